"""The deeds an avatar can claim, as a table: by which words, about what, and which tools stand behind them.

Owns vocabulary alone: verbs in their forms, what makes one mean a deed of ours, and the idioms in which it does
not. `gridagent.turn.claims` reads it. English, with the commonest ways of claiming a payment in a few other
languages. Pure data.

Invariant: a deed without a tool behind it can never be claimed; every tool named here is in the catalogue
(Spec: MND-9).
"""
# ruff: noqa: E501 - a table is read by row

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import attrs

__all__ = (
    "AIMED",
    "BACKED_BY",
    "DONE",
    "ELSEWHERE",
    "HANDED",
    "KEPT",
    "NOUNS",
    "STATES",
    "STATE_WORDS",
    "STILL",
    "VERBS",
    "WHEN_ASKED",
    "Deed",
    "Form",
    "Verb",
)


class Deed(StrEnum):
    """What may be claimed to be done."""

    PAY = "pay"
    GIVE = "give"
    MESSAGE = "message"
    FOLLOW = "follow"
    WALK = "walk"
    HALT = "halt"
    SIT = "sit"
    STAND = "stand"
    TELEPORT = "teleport"
    INVITE = "invite"
    BEFRIEND = "befriend"
    UNFRIEND = "unfriend"
    ANSWER = "answer"
    TOUCH = "touch"
    REZ = "rez"
    EDIT = "edit"
    DELETE = "delete"
    RETURN = "return"
    EJECT = "eject"
    MUTE = "mute"
    WRITE = "write"
    REMEMBER = "remember"
    LOOK = "look"


_TELEPORTS: Final = frozenset({"teleport_to", "teleport_home", "answer_teleport_offer"})
BACKED_BY: Final[dict[Deed, frozenset[str]]] = {
    Deed.PAY: frozenset({"pay_avatar", "pay_object"}),
    Deed.GIVE: frozenset({"give_item"}),
    Deed.MESSAGE: frozenset({"send_im", "say", "offer_teleport", "offer_friendship", "request_teleport"}),
    Deed.FOLLOW: frozenset({"follow_avatar"}),
    Deed.WALK: frozenset({"walk_to", "follow_avatar", "sit_on"}) | _TELEPORTS,
    Deed.HALT: frozenset({"stop_moving", "stand_up", "sit_on", "sit_on_ground", "walk_to"}) | _TELEPORTS,
    Deed.SIT: frozenset({"sit_on", "sit_on_ground"}),
    Deed.STAND: frozenset({"stand_up", "walk_to", "follow_avatar"}) | _TELEPORTS,
    Deed.TELEPORT: frozenset({"offer_teleport"}) | _TELEPORTS,
    Deed.INVITE: frozenset({"offer_teleport", "offer_friendship", "send_im"}),
    Deed.BEFRIEND: frozenset({"offer_friendship", "answer_friendship"}),
    Deed.UNFRIEND: frozenset({"end_friendship"}),
    Deed.ANSWER: frozenset({"answer_teleport_offer", "answer_friendship", "answer_inventory_offer", "answer_dialog"}),
    Deed.TOUCH: frozenset({"touch", "answer_dialog"}),
    Deed.REZ: frozenset({"rez_object"}),
    Deed.EDIT: frozenset({"edit_object"}),
    Deed.DELETE: frozenset({"delete_object"}),
    Deed.RETURN: frozenset({"return_object"}),
    Deed.EJECT: frozenset({"eject_avatar"}),
    Deed.MUTE: frozenset(),
    Deed.WRITE: frozenset({"create_notecard", "create_landmark"}),
    Deed.REMEMBER: frozenset({"remember", "create_notecard"}),
    Deed.LOOK: frozenset(
        {
            *("look_around", "look_at_avatar", "look_at_object", "look_at_parcel", "check_balance", "find_region"),
            *("search_inventory", "read_conversation", "recall_memory", "query_memory", "list_goals", "get_time"),
        }
    ),
}
"""Which successful calls stand behind a deed. A foreign tool stands behind any of them: nobody knows what it does."""

AIMED: Final = frozenset(
    {"pay_avatar", "give_item", "send_im", "follow_avatar", "offer_teleport", "offer_friendship", "eject_avatar"}
)
"""Tools whose arguments say who it was done to."""
KEPT: Final = frozenset({Deed.PAY, Deed.GIVE, Deed.WRITE, Deed.REZ, Deed.EDIT, Deed.DELETE, Deed.RETURN, Deed.EJECT})
"""Deeds whose evidence lasts, so that an earlier claim of our own does not stand in for it."""


class Form(StrEnum):
    """How a verb claims something."""

    PAST = "past"
    GOING_ON = "going_on"
    NARRATED = "narrated"
    """Third person, as narration has it."""


@attrs.frozen
class Verb:
    """One verb form."""

    deed: Deed | None
    """None where what is handed over decides; see `HANDED`."""
    form: Form
    wants: frozenset[str] = frozenset()
    """Words of which one has to follow soon; empty where none has to."""
    never: frozenset[str] = frozenset()
    """Words that make it an idiom when they follow soon."""


_SOMEBODY: Final = frozenset({"you", "him", "her", "them", "NAME"})
_PAYEE: Final = _SOMEBODY | {"money", "it", "vendor", "shop", "machine", "jar", "fee", "everyone", "everybody"}
_PAY_IDIOMS: Final = frozenset(
    {
        *("respects", "respect", "attention", "visit", "visits", "heed", "compliment", "compliments", "homage"),
        *("tribute", "tributes", "dearly", "off", "lip", "mind", "hat", "dividends", "regards", "over"),
    }
)
_THING: Final = frozenset({"it", "that", "the", "your", "this", "them", "NAME"})
_OVER: Final = frozenset({"over", "closer", "beside", "next", "towards", "toward", "way"})
_BUILT: Final = frozenset({"box", "prim", "object", "cube", "prims", "objects"})
_NO_DEED: Final = frozenset({"through", "conclusion", "point", "so", "conversation", "news", "instructions", "across"})
_LOOKED: Final = frozenset(
    {"around", "inventory", "balance", "map", "region", "surroundings", "parcel", "account", "wallet"}
)
_NOTED: Final = frozenset({"memory", "notes", "note", "down"})


def _forms(
    past: str,
    going: str,
    narrated: str,
    deed: Deed | None,
    wants: frozenset[str] = frozenset(),
    never: frozenset[str] = frozenset(),
) -> dict[str, Verb]:
    kinds = ((past, Form.PAST), (going, Form.GOING_ON), (narrated, Form.NARRATED))
    return {word: Verb(deed, form, wants, never) for words, form in kinds for word in words.split()}


VERBS: Final[dict[str, Verb]] = {
    **_forms("paid tipped", "paying tipping", "pays tips", Deed.PAY, _PAYEE, _PAY_IDIOMS),
    **_forms("refunded reimbursed compensated", "refunding reimbursing", "refunds", Deed.PAY),
    **_forms(
        "transferred wired", "transferring wiring", "transfers wires", Deed.PAY, _PAYEE | {"funds"}, frozenset({"here"})
    ),
    **_forms("sent gave given", "sending giving", "sends gives", None),
    **_forms("handed delivered slipped passed", "handing delivering slipping", "hands delivers slips passes", None),
    **_forms("messaged imed pmed dmed texted", "messaging", "messages", Deed.MESSAGE, _SOMEBODY | {"the"}),
    **_forms(
        "notified pinged alerted informed contacted",
        "notifying pinging alerting informing contacting",
        "notifies alerts",
        Deed.MESSAGE,
        frozenset({"him", "her", "them", "NAME", "the", "my", "your", "everyone"}),
    ),
    **_forms("followed", "following", "follows", Deed.FOLLOW, _SOMEBODY, _NO_DEED | {"up", "along"}),
    **_forms(
        "walked moved stepped came ran hurried",
        "walking coming heading running moving hurrying",
        "walks steps moves comes runs hurries heads",
        Deed.WALK,
        _OVER,
        _NO_DEED,
    ),
    **_forms("stopped", "", "stops", Deed.HALT, frozenset({"following", "moving", "walking"})),
    **_forms("sat", "", "sits", Deed.SIT, frozenset({"down"})),
    **_forms("stood", "", "stands", Deed.STAND, frozenset({"up"}), frozenset({"for", "against"})),
    **_forms("teleported tped", "teleporting tping", "teleports", Deed.TELEPORT),
    **_forms("invited", "inviting", "invites", Deed.INVITE, _SOMEBODY),
    **_forms("befriended friended", "befriending", "befriends", Deed.BEFRIEND, _SOMEBODY),
    **_forms("added", "adding", "adds", Deed.BEFRIEND, frozenset({"friend", "friends"})),
    **_forms("unfriended", "unfriending", "unfriends", Deed.UNFRIEND),
    **_forms(
        "accepted declined",
        "accepting declining",
        "accepts declines",
        Deed.ANSWER,
        frozenset({"offer", "request", "invitation", "invite", "friendship", "teleport", "gift", "item"}),
    ),
    **_forms("touched clicked", "touching clicking", "touches clicks", Deed.TOUCH, _THING),
    **_forms("pressed pushed", "pressing pushing", "presses pushes", Deed.TOUCH, frozenset({"button", "it"})),
    **_forms("rezzed rezed", "rezzing rezing", "rezzes rezes", Deed.REZ),
    **_forms("created built placed", "creating building placing", "creates builds places", Deed.REZ, _BUILT),
    **_forms("renamed", "renaming", "renames", Deed.EDIT, _THING),
    **_forms("deleted", "deleting", "deletes", Deed.DELETE, _THING),
    **_forms("returned", "returning", "returns", Deed.RETURN, _BUILT | {"item", "items"}),
    **_forms("ejected", "ejecting", "ejects", Deed.EJECT),
    **_forms("kicked banned", "kicking banning", "kicks bans", Deed.EJECT, _SOMEBODY | {"out", "griefer", "user"}),
    **_forms("muted blocked", "muting blocking", "mutes blocks", Deed.MUTE, _SOMEBODY | {"griefer", "user"}),
    **_forms("wrote written made", "writing making", "writes makes", Deed.WRITE, frozenset({"notecard", "landmark"})),
    **_forms("saved stored recorded", "saving storing", "saves stores", Deed.REMEMBER, _NOTED),
    **_forms("checked searched looked", "", "checks searches", Deed.LOOK, _LOOKED, frozenset({"forward", "up"})),
}
"""Each form of a verb that may claim a deed. ``NAME`` stands for a word with a capital, ``money`` for an amount."""

NOUNS: Final[dict[str, Deed]] = {
    **dict.fromkeys(("payment", "money", "tip", "refund", "funds", "lindens", "linden", "cash", "payout"), Deed.PAY),
    **dict.fromkeys(("item", "gift", "object", "copy", "box", "freebie", "present"), Deed.GIVE),
    **dict.fromkeys(("landmark", "lm", "notecard", "note"), Deed.GIVE),
    **dict.fromkeys(("message", "im", "pm", "dm"), Deed.MESSAGE),
    **dict.fromkeys(("teleport", "tp", "invite", "invitation", "lure"), Deed.INVITE),
    **dict.fromkeys(("friendship", "friend"), Deed.BEFRIEND),
}
"""What is handed over, and so what deed handing it over is."""
HANDED: Final = frozenset({Deed.PAY, Deed.GIVE, Deed.MESSAGE, Deed.INVITE, Deed.BEFRIEND})
"""What handing over may be when all that is said of it is ``it``."""

_N: Final = "(?:payment|amount|transfer|transaction|tip|refund|money(?::\\d+)?|funds|lindens?)"
_G: Final = "(?:gift|item|landmark|notecard|freebie)"
_M: Final = "(?:message|im|invite|invitation|teleport offer|teleport|friend request)"
_WAS: Final = "(?:was|were|been|went|has|should be|(?:is|are) (?:now|already|just|all|successfully|being))(?: (?:now|just|already|all|successfully|fully|being))*"
_GONE: Final = (
    "(?:sent|paid|transferred|delivered|complete|completed|processed|done|through|successful|credited|deposited|yours"
    "|on (?:its|the|their) way|in your (?:account|inventory|wallet|balance)|waiting for you)"
)
# In the present, a participle tells what happens in general; only where things are is about now.
_IS: Final = "(?:is|are)(?: (?:now|just|already|all))*"
_THERE: Final = "(?:complete|completed|done|through|successful|yours|on (?:its|the|their) way|in your (?:account|wallet|balance)|waiting for you)"
STATES: Final[tuple[tuple[re.Pattern[str], Deed], ...]] = (
    *(
        (re.compile(f" {noun}(?: (?!: )[^, ]+){{0,3}}? {_WAS} {_GONE} "), deed)
        for noun, deed in ((_N, Deed.PAY), (_G, Deed.GIVE), (_M, Deed.MESSAGE))
    ),
    *(
        (re.compile(f" {noun}(?: (?!: )[^, ]+){{0,3}}? {_IS} {_THERE} "), deed)
        for noun, deed in ((_N, Deed.PAY), (_G, Deed.GIVE), (_M, Deed.MESSAGE))
    ),
    *(
        (re.compile(f"^ (?:[^ ]+ , )?{noun}(?: (?!: )[^, ]+){{0,4}}? {_GONE} (?:, |successfully |to [^ ]+ |now |$)"), deed)
        for noun, deed in ((_N, Deed.PAY), (_G, Deed.GIVE), (_M, Deed.MESSAGE))
    ),
    (re.compile(r" here (?:is|are) (?:your |the |some |a |an )?(?:tip|payment|refund|lindens?|money(?::\d+)?) "), Deed.PAY),
    (re.compile(r" here (?:is|are) (?:your |the |some )?money:\d+ "), Deed.PAY),
    (re.compile(r" here (?:is|are) (?:your|the|a) (?:landmark|notecard|gift|item|freebie) (?:, |for you |$)"), Deed.GIVE),
    (re.compile(r" (?:i|we) (?:have )?(?:just |already |now )*(?:made|completed|processed|issued) (?:the|your|a) (?:payment|transfer|refund|transaction) "), Deed.PAY),
    (re.compile(r" you (?:have been|were just|are now) (?:paid|refunded|reimbursed|tipped) "), Deed.PAY),
    (re.compile(r" you (?:now |just |should |will )*(?:have|got|received?|see) (?:now |just |received |got )*(?:your |the )?money:\d+ "), Deed.PAY),
    (re.compile(r" (?:let|have let) (?:him|her|them|[^ ]+|the [^ ]+) know (?:now |already )?(?:that |, |$)"), Deed.MESSAGE),
    (re.compile(r" (?:i|we) (?:am|are) (?:now )?(?:on my way|on our way|right behind you|coming to you|coming over) "), Deed.WALK),
    (re.compile(r"^ (?:[^ ]+ , )?on my way (?:, |over |to you |now |$)"), Deed.WALK),
    (re.compile(r" i have (?:now |just )?(?:a seat|taken a seat) "), Deed.SIT),
    (re.compile(r" i am (?:now |just )?(?:sitting down|seated now|sat down) "), Deed.SIT),
    (re.compile(r" ich (?:habe|hab) (?:[^ ]+ ){0,3}?(?:dir|ihnen|euch|ihm|ihr|money:\d+) (?:[^ ]+ ){0,4}?(?:\u00fcberwiesen|bezahlt|gezahlt|geschickt) "), Deed.PAY),
    (re.compile(r" (?:t|vous|lui) ai (?:[^ ]+ ){0,3}?(?:pay\u00e9|vers\u00e9|vir\u00e9|envoy\u00e9) | j ai (?:[^ ]+ ){0,3}?(?:pay\u00e9|vers\u00e9|vir\u00e9|envoy\u00e9) money:\d+ "), Deed.PAY),
    (re.compile(r" (?:te|le|les) (?:he|hemos) (?:pagado|transferido|enviado money:\d+) | te (?:pagu\u00e9|transfer\u00ed) "), Deed.PAY),
    (re.compile(r" (?:ti|le|vi) ho (?:[^ ]+ ){0,2}?(?:pagato|trasferito|versato) "), Deed.PAY),
    (re.compile(r" (?:te paguei|paguei (?:a )?voc\u00ea|transferi (?:para )?voc\u00ea|j\u00e1 paguei) "), Deed.PAY),
    (re.compile(r" ik heb (?:[^ ]+ ){0,2}?(?:je|jou|u|hem|haar|money:\d+) (?:[^ ]+ ){0,3}?(?:betaald|overgemaakt|gestuurd) "), Deed.PAY),
)  # fmt: skip
"""Ways of claiming a deed without saying who did it, over a sentence's words in one text."""

STATE_WORDS: Final = frozenset(
    {
        *(
            "payment",
            "amount",
            "transfer",
            "transaction",
            "tip",
            "refund",
            "money",
            "funds",
            "linden",
            "lindens",
            "gift",
            "item",
        ),
        *("landmark", "notecard", "freebie", "message", "im", "invite", "invitation", "teleport", "friend", "paid"),
        *("refunded", "reimbursed", "tipped", "know", "way", "right", "coming", "seat", "sitting", "seated", "sat"),
        *("ich", "habe", "hab", "ai", "he", "hemos", "te", "ho", "paguei", "transferi", "heb"),
    }
)
"""Words of which one is in whatever `STATES` finds, if no amount is."""

_ENDED: Final = (
    "(?:done|sent|delivered|paid|taken care of|sorted|handled|arranged|gone|banned|ejected|muted|blocked|deleted|removed"
    "|returned|rezzed|renamed|kicked|stopped|added|friended|invited)"
)
_WELL: Final = "(?:,|:|ok|okay|yes|yep|sure|all|right|just|now|already|successfully|result|b|there|great)"
_CURT: Final = (
    "(?:paid|sent|banned|ejected|muted|deleted|removed|seated|sitting|following|transferred|invited|added|coming|told)"
)
_I: Final = "(?:^(?: [^ ]+ ,)* | (?:i|we) (?:have |am |are |did )?(?:just |already |now |also |gone ahead and )*)"
_IT: Final = "(?:it|that|this|everything|all|he|she|they|the [^ ]+|your [^ ]+)"
WHEN_ASKED: Final[tuple[tuple[re.Pattern[str], frozenset[Deed]], ...]] = tuple(
    (re.compile(pattern), frozenset(deeds))
    for pattern, deeds in (
        (
            f" {_IT} (?:is|are|was|were|has|have)(?: been)?(?: (?:now|just|already|all|successfully))* {_ENDED} (?!by )",
            set(),
        ),
        (f"{_I}(?:taken care of|took care of|sorted it|sent you what|done what you|handled it) ", set()),
        (" on (?:its|the|their) way | went through | deed is done | done and dusted ", set()),
        (
            " i (?:have )?already did | i did (?:just |now |hereby )?(?:pay|send|give|tell|follow|do|give|come|transfer) ",
            set(),
        ),
        (f"^(?: {_WELL})* {_CURT} (?:[^ ]+ ){{0,3}}$", set()),
        (
            " (?:money:)?\\d+ (?:sent|paid|transferred|delivered) | money:\\d+ (?:for you|richer) | enjoy (?:your|the) (?:money|lindens|[^ ]+ money)",
            {Deed.PAY},
        ),
        (
            " i (?:hereby |do |now )*(?:pay|give|hand|transfer|send|tip) (?!me |us )[^ ]+ (?:money:)?\\d+ | is you paid ",
            {Deed.PAY},
        ),
        (" i (?:now )?follow you | (?:started|begun|began) (?:following|to follow) ", {Deed.FOLLOW}),
        (" i am (?:now |back )*(?:at )?home ", {Deed.TELEPORT}),
        (" (?:took|taken) a seat ", {Deed.SIT}),
        (
            " (?:has been|was|were) (?:told|informed|notified) | (?:she|he) knows (?:now |, |$)| they know (?:now |, |$)",
            {Deed.MESSAGE},
        ),
        (
            " you are (?:now )?(?:invited|on my friends list) | we are (?:now )?friends (?:now |, |$)",
            {Deed.INVITE, Deed.BEFRIEND},
        ),
        (f"{_I}(?:gave|given|dropped|put|slipped|sent) (?:[^ ,]+ ){{0,3}}?(?:money:)?\\d+ ", {Deed.PAY}),
        (f"{_I}(?:dropped|put|placed|slipped|left) (?:[^ ,]+ ){{1,4}}?in(?:to)? your inventory ", {Deed.GIVE}),
        (" you (?:should |now |will )*(?:have|find|see|got) (?:[^ ,]+ ){1,4}?in your inventory ", {Deed.GIVE}),
        (f"{_I}(?:told|relayed|passed|forwarded|mentioned) (?!you |me |us |away |by |out )", {Deed.MESSAGE}),
        (
            f"{_I}(?:coming|right behind you|arrived|made it|walking (?:over|behind|to|towards)|behind you now) ",
            {Deed.WALK, Deed.FOLLOW},
        ),
        (
            " here i am | i am (?:now |right )?(?:here now|now here|next to you|behind you|beside you|with you now|at your side|there) ",
            {Deed.WALK, Deed.FOLLOW, Deed.LOOK},
        ),
        (" (?:i am|now) (?:now )?(?:sitting|seated|sat) | taking a seat ", {Deed.SIT}),
        (" i am (?:now )?(?:standing|up|on my feet) (?:now |, |$)| standing up ", {Deed.STAND}),
        (f"{_I}stopped (?:now |, |here |for you |$)", {Deed.HALT}),
        (f"{_I}(?:threw|thrown|got rid of|removed|kicked|booted) ", {Deed.EJECT, Deed.DELETE, Deed.RETURN}),
        (f"{_I}(?:put|placed|made|created|built|set up) (?:a|an|the|your|it) ", {Deed.REZ}),
        (
            f"{_I}(?:made|taken|took) (?:a )?(?:mental )?note |{_I}(?:noted|saved|stored|written|wrote|added) (?:it|that|this) ",
            {Deed.REMEMBER},
        ),
    )
)
"""Ways of saying that something was done which say so only to somebody who has just asked for it; without a deed of
their own they mean whatever was asked for."""
STILL: Final = frozenset({"still"})
"""Signs that something has been so all along."""

DONE: Final = re.compile(
    r"^ (?:(?:ok|okay|yes|sure|alright|great|there) ,? ?)*(?:all )?(?:done|finished|completed|all set|there you go"
    r"|here you go|it is done|that is done|consider it done|mission accomplished|task completed?|success|as you wish ,? done"
    r"|i did it|i have done (?:it|that|so)|i just did) (?:, |now |$|money|for you )"
)
"""A sentence that says no more than that it is done."""

ELSEWHERE: Final = frozenset(
    {
        *("yesterday", "ago", "once", "formerly", "previously", "years", "last", "childhood", "past", "used"),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "weekend"),
    }
)
"""Signs that a sentence tells of another time."""
