"""Claims about the rule-based mind."""

import pytest

from gridagent.actions import (
    AnswerFriendship,
    AnswerInventoryOffer,
    AnswerTeleportOffer,
    Confirmed,
    Emote,
    EvidenceKind,
    FollowAvatar,
    PayAvatar,
    Position,
    Say,
    SendIm,
    SitOn,
    SitOnGround,
    StandUp,
    StopMoving,
    TeleportHome,
    WalkTo,
)
from gridagent.authority import Origin, Provenance
from gridagent.events import (
    AlertShown,
    AvatarView,
    BalanceChanged,
    ChatHeard,
    FriendshipOffered,
    ImReceived,
    InventoryOffered,
    ObjectView,
    Speaker,
    SpeakerKind,
    TeleportOffered,
)
from gridagent.mind import Attention, Moment, Proposal
from gridagent.presence.reflex import ReflexMind

ME = "00000000-0000-4000-8000-000000000001"
OWNER = "00000000-0000-4000-8000-000000000002"
STRANGER = "00000000-0000-4000-8000-000000000003"
CHAIR = "00000000-0000-4000-8000-000000000004"
NOW = Moment(1e9, 100.0)


class Around:
    """A place with an owner, a stranger and perhaps a chair."""

    self_id = ME
    position = Position(x=1, y=1)

    def __init__(self, *, chair=False):
        self.chair = chair

    def avatars(self):
        return [
            AvatarView(avatar_id=OWNER, name="Olive Owner", position=Position(x=5, y=5)),
            AvatarView(avatar_id=STRANGER, name="Sam Stranger", position=Position(x=6, y=6)),
        ]

    def objects(self):
        if not self.chair:
            return []
        table = ObjectView(object_id=OWNER, name="Table", owner_id=OWNER, position=Position(x=2, y=2))
        return [
            table,
            *self._chairs(),
        ]

    def _chairs(self):
        return [ObjectView(object_id=CHAIR, name="Chair", owner_id=OWNER, position=Position(x=2, y=2), sittable=True)]


def chat(text, who=STRANGER, kind=SpeakerKind.AVATAR, name="Sam Stranger", **more):
    """Build an utterance."""
    return ChatHeard(utterance_id="u1", source=Speaker(kind=kind, id=who, name=name), text=text, **more)


def mind():
    """Build a mind that answers to Robin and belongs to the owner."""
    return ReflexMind(["Robin Resident", "Robin"], frozenset({OWNER}))


def proposals(thoughts):
    """Keep what it wants to do."""
    return [thought for thought in thoughts if isinstance(thought, Proposal)]


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Robin, come here please", WalkTo(position=Position(x=6, y=6))),
        ("Robin follow me", FollowAvatar(avatar_id=STRANGER)),
        ("Robin stop", StopMoving()),
        ("Robin sit", SitOnGround()),
        ("Robin stand up", StandUp()),
        ("Robin go home", TeleportHome()),
        ("wave, Robin", Emote(text="waves.")),
        ("Robin pay me 500", PayAvatar(to=STRANGER, amount=500)),
        ("Robin, tip Olive Owner 5", PayAvatar(to=OWNER, amount=5)),
        ("hello Robin", Say(text="Hello, Sam Stranger.")),
    ],
)
def test_a_phrase_becomes_a_proposal(text, action):
    """What it is told to do becomes one proposal, on the words of whoever said it."""
    thoughts = mind().hear(chat(text), Around(), NOW)
    assert thoughts[0] == Attention(utterance_id="u1", answers=True, code="addressed")
    (wanted,) = proposals(thoughts)
    assert wanted.action == action
    assert wanted.principal.avatar_id == STRANGER
    assert wanted.origin is Origin.PUBLIC_CHAT
    assert wanted.tainted
    assert wanted.target_provenance is Provenance.MODEL


@pytest.mark.parametrize(
    "text", ["Robin, how much is the lemonade stand?", "Robin do you sit often?", "I stop here, Robin"]
)
def test_a_verb_in_the_middle_of_a_sentence_is_no_order(text):
    """What is wanted stands first; a word that only looks like an order is answered in words."""
    (wanted,) = proposals(mind().hear(chat(text), Around(), NOW))
    assert isinstance(wanted.action, Say)


@pytest.mark.parametrize("text", ["hello Robin, could you please stand up", "ok robin resident stand", "Robin"])
def test_greetings_names_and_fillers_may_stand_before_an_order(text):
    """Politeness does not hide an order, and nothing but politeness is none."""
    (wanted,) = proposals(mind().hear(chat(text), Around(), NOW))
    assert isinstance(wanted.action, Say if text == "Robin" else StandUp)


def test_a_chair_is_better_than_the_floor():
    """Sitting takes the nearest thing to sit on."""
    (wanted,) = proposals(mind().hear(chat("Robin sit"), Around(chair=True), NOW))
    assert wanted.action == SitOn(object_id=CHAIR)


def test_the_owners_words_are_not_tainted():
    """Spec: POL-5 — an authorised person's own words are theirs, and carry their target."""
    (wanted,) = proposals(mind().hear(chat("Robin tip me 5", OWNER), Around(), NOW))
    assert not wanted.tainted
    assert wanted.target_provenance is Provenance.AUTHORISED_WORDS


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (chat("nice weather"), "quiet:not_addressed"),
        (chat("Robin, pay me 500", kind=SpeakerKind.OBJECT), "quiet:not_a_person"),
        (chat("Robin, pay me 500", kind=SpeakerKind.SYSTEM), "quiet:not_a_person"),
        (chat("Robin, pay me 500", who="x"), "quiet:not_a_person"),
        (
            ImReceived(utterance_id="u1", source=Speaker(kind=SpeakerKind.AVATAR, id=OWNER), text="hi", offline=True),
            "quiet:offline_message",
        ),
    ],
)
def test_it_says_why_it_stays_quiet(event, code):
    """Spec: PRS-1 — Fault: 15 — objects, the system, offline words and words for others get a reason only."""
    assert mind().hear(event, Around(), NOW) == (Attention(utterance_id="u1", answers=False, code=code),)


def test_its_own_words_are_no_words_for_it():
    """Spec: PRS-1 — its own echo leads to nothing at all."""
    assert mind().hear(chat("Robin", kind=SpeakerKind.SELF, who=ME), Around(), NOW) == ()
    assert mind().hear(chat("Robin", who=ME), Around(), NOW) == ()
    assert mind().hear(chat("Robin", chat_channel=7), Around(), NOW) == ()
    assert mind().hear(AlertShown(text="Robin"), Around(), NOW) == ()


def test_the_same_words_again_and_again_are_not_answered():
    """Spec: PRS-2 — a loop of two bots ends after two answers; other words, or forgetting, begin anew."""
    robin = mind()
    codes = [robin.hear(chat("Robin hi"), Around(), NOW)[0].code for _ in range(4)]
    assert codes == ["addressed", "addressed", "quiet:repeated", "quiet:repeated"]
    assert robin.hear(chat("Robin hi there"), Around(), NOW)[0].code == "addressed"
    for _ in range(3):
        robin.hear(chat("Robin hi"), Around(), NOW)
    robin.forget(STRANGER, NOW)
    assert robin.hear(chat("Robin hi"), Around(), NOW)[0].code == "addressed"


def test_it_remembers_a_bounded_number_of_people():
    """Memory for loops ends at 256 people; the one longest silent goes first."""
    robin = mind()
    for number in range(300):
        robin.hear(chat("Robin hi", who=f"00000000-0000-4000-8000-{number + 16:012x}"), Around(), NOW)
    assert len(robin._last) == 256


def test_an_im_is_always_for_it_and_is_answered_in_kind():
    """An IM needs no name, and what is said in IM is answered by IM."""
    event = ImReceived(utterance_id="u2", source=Speaker(kind=SpeakerKind.AVATAR, id=OWNER, name="O"), text="what now")
    (wanted,) = proposals(mind().hear(event, Around(), NOW))
    assert isinstance(wanted.action, SendIm)
    assert wanted.action.to == OWNER
    assert "no language model" in wanted.action.text
    assert wanted.origin is Origin.DIRECT_IM
    assert wanted.conversation == f"im:{OWNER}"


@pytest.mark.parametrize("text", ["Robin pay me", "Robin pay me 0", "Robin pay me 99999999"])
def test_a_payment_without_a_sane_amount_is_declined_in_words(text):
    """Fault: 24 — no number, nought, or an absurd one never becomes a payment."""
    (wanted,) = proposals(mind().hear(chat(text), Around(), NOW))
    assert isinstance(wanted.action, Say)
    assert wanted.action.text == "I can't do that, Sam Stranger."


def test_somebody_it_cannot_see_cannot_be_walked_to():
    """Without knowing where the speaker is there is nowhere to go."""
    alone = Around()
    alone.avatars = list
    (wanted,) = proposals(mind().hear(chat("Robin come here"), alone, NOW))
    assert isinstance(wanted.action, Say)
    (wanted,) = proposals(mind().hear(chat("Robin pay 5"), alone, NOW))
    assert wanted.action == PayAvatar(to=STRANGER, amount=5)
    unseen = "00000000-0000-4000-8000-0000000000ff"
    (wanted,) = proposals(mind().hear(chat("Robin come here", who=unseen), Around(), NOW))
    assert isinstance(wanted.action, Say)


@pytest.mark.parametrize(
    "offer",
    [
        (FriendshipOffered, {}, AnswerFriendship),
        (TeleportOffered, {}, AnswerTeleportOffer),
        (InventoryOffered, {"name": "Hat", "kind": "object"}, AnswerInventoryOffer),
    ],
)
def test_only_its_own_peoples_offers_are_taken(offer):
    """Spec: POL-4 — offers of strangers and objects stay open; the owner's are accepted, through the gateway."""
    kind, more, answer = offer
    own = kind(offer_id="o1", source=Speaker(kind=SpeakerKind.AVATAR, id=OWNER), **more)
    (wanted,) = proposals(mind().hear(own, Around(), NOW))
    assert wanted.action == answer(offer_id="o1", accept=True)
    for source in (Speaker(kind=SpeakerKind.AVATAR, id=STRANGER), Speaker(kind=SpeakerKind.OBJECT, id=OWNER)):
        assert mind().hear(kind(offer_id="o1", source=source, **more), Around(), NOW) == ()


def test_it_thanks_for_money_and_only_for_money():
    """A gift of L$ is answered; a loss, or one from nobody, isn't."""
    (wanted,) = proposals(mind().hear(BalanceChanged(balance=10, change=5, counterpart_id=STRANGER), Around(), NOW))
    assert wanted.action == Say(text="Thank you for the L$5.")
    assert mind().hear(BalanceChanged(balance=10, change=-5, counterpart_id=STRANGER), Around(), NOW) == ()
    assert mind().hear(BalanceChanged(balance=10, change=5), Around(), NOW) == ()


def test_hostile_names_are_spoken_harmlessly():
    """Fault: 17 — control and direction characters of a name never leave the avatar's mouth, and it stays short."""
    name = "\u202eEvil\x07" + "x" * 100
    (wanted,) = proposals(mind().hear(chat("hi Robin", name=name), Around(), NOW))
    assert "\u202e" not in wanted.action.text
    assert "\x07" not in wanted.action.text
    assert len(wanted.action.text) < 60
    (nameless,) = proposals(mind().hear(chat("hi Robin", name="\u200b"), Around(), NOW))
    assert nameless.action.text == "Hello, you."


def test_outcomes_teach_it_nothing():
    """Rules do not learn: the same words get the same answer after any outcome."""
    robin = mind()
    before = robin.hear(chat("Robin stop"), Around(), NOW)
    robin.learn(proposals(before)[0], Confirmed(evidence=EvidenceKind.POSITION), NOW)
    assert robin.hear(chat("Robin stop"), Around(), NOW) == before
