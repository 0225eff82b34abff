"""Claims about the oracle's brute-force reading of a policy, and its agreement with the gateway's."""

from __future__ import annotations

import random

import msgspec
import pytest

from gridagent import actions as wanted
from gridagent.actions import Position, action_name
from gridagent.authority import Origin, Principal
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.policy import Policy
from gridagent.policy.roles import RoleBook
from gridagent.policy.verbs import VERBS
from gridagent.simulation.bounds import PolicyDraft, draw_policy
from gridagent.simulation.rulebook import Ask, Rulebook, Sums, units

OWNER = "00000000-0000-4000-8000-000000000001"
FRIEND = "00000000-0000-4000-8000-000000000002"
STRANGER = "00000000-0000-4000-8000-000000000003"
ROLES = msgspec.json.encode(RolesSection(owners=(OWNER,), trusted=(FRIEND,)))
PAY = wanted.PayAvatar(to=FRIEND, amount=7)


def a_policy(**changes: object) -> PolicyDraft:
    """Write a policy that allows everything and asks nobody."""
    draft = draw_policy(random.Random(0))
    draft.matrix = {origin: dict.fromkeys(cells, "anyone") for origin, cells in draft.matrix.items()}
    draft.tainted = dict.fromkeys(draft.tainted, "allow")
    draft.target_from = {}
    draft.approvals = dict.fromkeys(draft.approvals, "not_required")
    draft.patterns = {}
    for name, value in changes.items():
        setattr(draft, name, value)
    return draft


def book(**changes: object) -> Rulebook:
    """Read a policy that allows everything but what is changed."""
    return Rulebook(a_policy(**changes).written(), ROLES)


def ask(who: str = STRANGER, origin: str = "public_chat", capability: str = "money", *, tainted: bool = False) -> Ask:
    """Ask as somebody, through a door."""
    return Ask(who=who, origin=origin, capability=capability, tainted=tainted)


@pytest.mark.parametrize("origin", [each.value for each in Origin])
@pytest.mark.parametrize("who", [OWNER, FRIEND, STRANGER, "client:operator", "client:front", "client:"])
def test_ranks_agree_with_the_policy_room(origin: str, who: str) -> None:
    """Two readings of who is who come to the same answer. Spec: POL-4."""
    roles = RoleBook(owners=(OWNER,), trusted=(FRIEND,))
    client = who.removeprefix("client:")
    principal = Principal(client=client) if who.startswith("client:") else Principal(avatar_id=who)
    assert book().rank(who, origin) == roles.role(principal, Origin(origin)).rank


@pytest.mark.parametrize(
    ("who", "approvers", "asker", "may"),
    [
        (OWNER, "owner", OWNER, True),
        (FRIEND, "owner", OWNER, False),
        (FRIEND, "trusted", OWNER, True),
        (FRIEND, "trusted", FRIEND, False),
        (STRANGER, "trusted", OWNER, False),
    ],
)
def test_who_may_answer_an_approval(who: str, approvers: str, asker: str, *, may: bool) -> None:
    """Owners; trusted people where the policy says so, for requests that are not their own. Spec: POL-7."""
    assert book(approvers=approvers).may_answer(who, asker) is may


def test_written_policies_compile() -> None:
    """Whatever is drawn is a policy an operator could have written, and says every cell and meter itself."""
    for seed in range(30):
        draft = draw_policy(random.Random(seed))
        section = msgspec.json.decode(draft.written(), type=PolicySection)
        policy = Policy(section, msgspec.json.decode(ROLES, type=RolesSection))
        assert {cap: need.value for cap, need in policy.section.approvals.items()} == draft.approvals
        assert set(draft.patterns) == set(policy.section.patterns)
        assert {meter.value for meter in policy.section.budgets} == set(draft.budgets)


def test_units_agree_with_the_policy_room() -> None:
    """Two tables of what an action uses up say the same, metres apart. Spec: POL-6."""
    here = Position(x=1.0, y=2.0)
    examples = [
        wanted.Say(text="caf\N{LATIN SMALL LETTER E WITH ACUTE}"),
        wanted.SendIm(to=OWNER, text="hi"),
        wanted.WalkTo(position=here),
        wanted.StandUp(),
        wanted.TeleportHome(),
        wanted.AnswerTeleportOffer(offer_id="o", accept=True),
        wanted.AnswerTeleportOffer(offer_id="o", accept=False),
        wanted.AnswerPermission(offer_id="o", grant=("animate",)),
        wanted.AnswerPermission(offer_id="o"),
        wanted.AnswerInventoryOffer(offer_id="o", accept=True),
        wanted.OfferTeleport(to=OWNER),
        wanted.GiveItem(item_id=OWNER, to=OWNER),
        wanted.CreateNotecard(name="n", text="text"),
        wanted.UploadAsset(name="n", kind="k", sha256="0" * 64, price=3),
        wanted.UploadAsset(name="n", kind="k", sha256="0" * 64),
        wanted.RezObject(position=here),
        wanted.EditObject(object_id=OWNER, description="d"),
        wanted.DeleteObject(object_id=OWNER),
        PAY,
    ]
    for action in examples:
        verb = VERBS[type(action)]
        charged = {meter.value: amount for meter, amount in verb.charges(action, 1.0) if meter.value != "metres"}
        assert units(action_name(action), verb.capability.value, action) == charged


def test_cells_bind_and_objects_cause_nothing() -> None:
    """A cell lets through who ranks high enough; object text never passes. Spec: POL-4."""
    strict = book(matrix={"public_chat": {"money": "trusted"}, "object_text": {"money": "anyone"}})
    assert list(strict.before_arguments(ask(FRIEND))) == []
    assert list(strict.before_arguments(ask(STRANGER))) == ["the cell public_chat x money is trusted"]
    assert list(strict.before_arguments(ask(FRIEND, capability="build"))) == ["the cell public_chat x build is deny"]
    assert "object text caused something" in list(strict.before_arguments(ask(FRIEND, "object_text")))


def test_taint_target_and_patterns_bind_unless_something_is_declined() -> None:
    """Each rule over arguments names what it forbids. Spec: POL-5, POL-14."""
    strict = book(
        tainted={"money": "deny", "inventory": "deny"},
        target_from={"money": ["configuration", "authorised_words"]},
        patterns={
            "much": {"action": "pay_avatar", "argument": "amount", "over": 5, "then": "deny"},
            "words": {"action": "say", "argument": "text", "contains": ["bad"], "then": "deny"},
            "long": {"action": "send_im", "argument": "text", "longer_than": 3, "then": "deny"},
            "grants": {"action": "answer_permission", "argument": "grant", "none_of": ["animate"], "then": "deny"},
        },
    )

    def forbids(action: wanted.Action, provenance: str = "model", **more: bool) -> list[str]:
        name = action_name(action)
        asked = ask(capability=action.spec.capability.value, tainted=more.pop("tainted", False))
        return list(strict.with_arguments(asked, name, action, provenance, operators_own=more.pop("own", False)))

    small = wanted.PayAvatar(to=FRIEND, amount=5)
    assert forbids(small, "configuration") == []
    assert forbids(PAY, "configuration") == ["a pattern denies pay_avatar.amount"]
    assert forbids(small) == ["the target of pay_avatar came from model"]
    assert forbids(small, own=True) == []
    assert forbids(small, "configuration", tainted=True) == ["tainted turns may not money"]
    assert forbids(wanted.AnswerInventoryOffer(offer_id="o", accept=False), tainted=True) == []
    assert forbids(wanted.Say(text="so BAD")) == ["a pattern denies say.text"]
    assert forbids(wanted.SendIm(to=FRIEND, text="long")) == ["a pattern denies send_im.text"]
    assert forbids(wanted.AnswerPermission(offer_id="o", grant=("animate", "debit"))) != []
    assert forbids(wanted.AnswerPermission(offer_id="o", grant=("animate",))) == []


@pytest.mark.parametrize("amount", [True, 1.0, 0, -1, 2**63, "5"])
def test_what_is_no_amount_is_named(amount: object) -> None:
    """A bool, a float, nothing, less than nothing and too much are no L$. Fault: 24."""
    action = wanted.PayAvatar(to=FRIEND, amount=amount)
    found = list(book().with_arguments(ask(), "pay_avatar", action, "model", operators_own=False))
    assert found == [f"{amount!r} is no amount"]


def test_an_upload_may_cost_nothing() -> None:
    """A price of zero is a price; a negative one is none."""
    free = wanted.UploadAsset(name="n", kind="k", sha256="0" * 64)
    assert list(book().with_arguments(ask(), "upload_asset", free, "model", operators_own=False)) == []
    odd = wanted.UploadAsset(name="n", kind="k", sha256="0" * 64, price=-1)
    assert list(book().with_arguments(ask(), "upload_asset", odd, "model", operators_own=False)) != []


def test_a_person_must_be_asked_where_the_policy_says_so() -> None:
    """By capability, by taint and by pattern; never when the operator wrote it, or to decline. Spec: POL-14."""
    wary = book(
        approvals={"money": "required", "inventory": "required"},
        tainted={"speak": "approve"},
        patterns={"words": {"action": "say", "argument": "text", "contains": ["odd"], "then": "approve"}},
    )
    say, odd = wanted.Say(text="x"), wanted.Say(text="odd")
    speak = ask(capability="speak")
    assert wary.asks(ask(), "pay_avatar", PAY, operators_own=False)
    assert not wary.asks(ask(), "pay_avatar", PAY, operators_own=True)
    assert wary.asks(ask(capability="speak", tainted=True), "say", say, operators_own=False)
    assert not wary.asks(speak, "say", say, operators_own=False)
    assert wary.asks(speak, "say", odd, operators_own=False)
    declined = wanted.AnswerInventoryOffer(offer_id="o", accept=False)
    assert not wary.asks(ask(capability="inventory"), "answer_inventory_offer", declined, operators_own=False)


def budgets(*lines: tuple[str, int, int]) -> dict:
    """Write budgets of L$."""
    return {"linden": [{"per": per, "limit": limit, "window_s": window} for per, limit, window in lines]}


def test_sums_are_added_up_anew_for_each_window() -> None:
    """Sliding windows, whoever they add up; later additions of earlier moments count too. Spec: POL-6."""
    free = [{"per": "global", "limit": 1000, "window_s": 60}]
    meters = {"calls.money": free, "speech_bytes": free}
    sums = Sums()
    lines = budgets(("global", 60, 60), ("principal", 14, 60), ("peer", 7, 10), ("strangers", 14, 60))
    tight = book(budgets={**meters, **lines})
    assert sums.overrun(tight, ask(OWNER), "pay_avatar", PAY, 100.0, "e") is None
    assert sums.overrun(tight, ask(OWNER), "pay_avatar", PAY, 111.0, "e") is None
    assert "per principal" in str(sums.overrun(tight, ask(OWNER), "pay_avatar", PAY, 130.0, "e"))
    assert "per peer in 10 s" in str(sums.overrun(tight, ask(FRIEND), "pay_avatar", PAY, 108.0, "e"))
    assert "per strangers" in str(
        [sums.overrun(tight, ask(STRANGER), "pay_avatar", PAY, at, "e") for at in (300.0, 320.0, 340.0)][-1]
    )
    assert sums.overrun(tight, ask(OWNER), "pay_avatar", PAY, 1000.0, "e") is None


def test_a_meter_without_a_budget_is_zero() -> None:
    """What no budget names may not be used at all. Spec: BND-13."""
    found = Sums().overrun(book(budgets={}), ask(), "pay_avatar", PAY, 1.0, "e")
    assert found is not None
    assert "which has no budget" in found
