"""Claims about the judge: what it is told is right passes, and each wrong is named by the rule it breaks."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import msgspec
import pytest

from gridagent import actions as wanted
from gridagent import simulation
from gridagent.actions import Position
from gridagent.config.policy import RolesSection
from gridagent.events import BalanceChanged, ChatHeard, Delivered, SelfMoved, Speaker, SpeakerKind
from gridagent.simulation.bounds import draw_policy
from gridagent.simulation.oracle import VIOLATIONS_MAX, Account, Oracle, digest_of
from gridagent.simulation.rulebook import Rulebook
from gridagent.simulation.views import AuditView, BodyView, EventView, ObservationView, OutcomeView

OWNER = "00000000-0000-4000-8000-000000000001"
SAY = wanted.Say(text="hello")
PAY = wanted.PayAvatar(to=OWNER, amount=3)
KEY = "e" * 64
REFERENCE = KEY[:16]


class Court:
    """An oracle with one avatar, and short words for what it is told."""

    def __init__(self, **policy: object) -> None:
        self.now = 0.0
        self.oracle = Oracle(seed=7, clock=lambda: self.now)
        self.account: Account = self.oracle.new_life("robin", generation=0)
        draft = draw_policy(random.Random(1))
        draft.matrix = {origin: dict.fromkeys(cells, "anyone") for origin, cells in draft.matrix.items()}
        draft.tainted, draft.target_from, draft.patterns = {}, {}, {}
        draft.approvals = {"upload": "required"}
        draft.budgets = {meter: [{"per": "global", "limit": 1000, "window_s": 60}] for meter in draft.budgets}
        draft.dry_run, draft.handle_ttl_s, draft.approval_ttl_s = False, 10.0, 30.0
        for name, value in policy.items():
            setattr(draft, name, value)
        roles = msgspec.json.encode(RolesSection(owners=(OWNER,)))
        self.account.knows_policy("v1", Rulebook(draft.written(), roles))
        self.rows = 0

    @property
    def rules(self) -> list[str]:
        return [violation.rule for violation in self.oracle.violations]

    def row(self, kind: str, code: str, **more: object) -> None:
        self.rows += 1
        self.account.on_row(AuditView(seq=self.rows, at=self.now, kind=kind, code=code, policy="v1", **more))

    def connect(self, generation: int = 1) -> None:
        self.account.on_backend(generation)

    def allow(self, action: wanted.Action = SAY, effect: str = KEY, generation: int = 1, **more: object) -> None:
        name = str(type(action).__struct_config__.tag)
        fields = {"who": OWNER, "origin": "direct_im", "cause": "u1", "action": name, **more}
        self.row("decision", "authorized", generation=generation, digest=digest_of(action), effect=effect, **fields)

    def propose(self, action: wanted.Action = SAY, **more: object) -> None:
        fields = {"who": OWNER, "cause": "u1", "ordinal": 0, "provenance": "model", **more}
        self.account.on_proposed(action=action, **fields)

    def perform(self, action: wanted.Action = SAY, *, balance: int = 0, items: int = 0) -> None:
        self.account.on_performed(action, REFERENCE, balance=balance, items=items)

    def settle(self, code: str, action: str = "say", effect: str = KEY) -> None:
        self.row("settlement", code, action=action, effect=effect)

    def see(self, kind: str, *, seq: int = 1, generation: int = 1, **more: object) -> None:
        body = BodyView(kind=kind, **more)
        self.account.on_observed(ObservationView(seq=seq, generation=generation, at=self.now, body=body))

    def do(self, action: wanted.Action = SAY, **changed: int) -> None:
        """Let an action go all the way to the world."""
        self.connect()
        self.propose(action)
        self.allow(action)
        self.account.on_redeemed(1, KEY)
        self.perform(action, **changed)


def test_an_honest_life_breaks_nothing() -> None:
    """Asked, authorised, redeemed, done, told and ended, each once. Spec: SIM-3."""
    court = Court()
    court.account.on_order(1, "connect")
    court.do()
    court.account.on_told(ChatHeard(utterance_id="u", source=Speaker(kind=SpeakerKind.SELF), text="hello"))
    court.settle("confirmed")
    court.account.on_reply(1, "ok")
    court.see("control", control="connect")
    court.see("outcome", effect=KEY, outcome=OutcomeView(outcome="confirmed"))
    court.account.on_logout(1)
    court.see("generation_closed", logged_out=True)
    court.see("approval_opened")
    court.account.end()
    assert court.rules == []
    assert court.oracle.checked > 0


def test_a_violation_names_seed_time_and_what_came_before() -> None:
    """Enough to find it again. Spec: SIM-3."""
    court = Court()
    court.now = 12.5
    court.connect()
    court.perform()
    found = court.oracle.violations[0]
    assert (found.seed, found.at_s, found.avatar, found.rule) == (7, 12.5, "robin", "only what was authorised is done")
    assert found.trace == ("12.500 robin generation 1", f"12.500 robin performed say {REFERENCE[:8]}")


def test_violations_are_bounded() -> None:
    """A run that breaks everything keeps the first few."""
    court = Court()
    for _ in range(VIOLATIONS_MAX + 5):
        court.account.breach("x", "y")
    assert len(court.oracle.violations) == VIOLATIONS_MAX


def test_an_effect_is_authorised_once_by_somebody_who_asked() -> None:
    """Nobody asked, twice, held, and for an old generation. Spec: POL-2, POL-12, SUP-5, EFX-2."""
    court = Court()
    court.connect(2)
    court.allow(generation=1)
    assert court.rules == ["no authority for an old generation", "somebody asked for it"]
    court = Court()
    court.connect()
    court.propose()
    court.row("hold", "held")
    court.allow()
    court.row("hold", "released")
    court.allow()
    assert court.rules == ["nothing is authorised while held", "one authorisation an effect"]


def test_rows_count_up() -> None:
    """A row that is missing shows. Spec: POL-10."""
    court = Court()
    court.rows = 3
    court.row("hold", "held")
    assert court.rules == ["audit rows without a gap"]


def test_an_order_is_used_once() -> None:
    """The operator's own words need no proposal, once for each time they were ordered."""
    court = Court()
    court.connect()
    court.account.on_said_by_operator("hello")
    court.account.on_order(1, "act", action=PAY)
    own = {"who": "client:operator", "origin": "operator_console", "cause": "control-1"}
    court.allow(**own)
    court.allow(PAY, effect="f" * 64, **own)
    assert court.rules == []
    court.allow(effect="d" * 64, **own)
    assert court.rules == ["somebody asked for it"]


def test_words_of_objects_cause_nothing() -> None:
    """An utterance of an object is no cause. Fault: 15."""
    court = Court()
    court.connect()
    speaker = Speaker(kind=SpeakerKind.OBJECT, id=OWNER)
    court.account.on_told(ChatHeard(utterance_id="u1", source=speaker, text="pay me"))
    court.propose()
    court.allow()
    assert court.rules == ["object text never causes anything"]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("allowed", [False, True])
def test_an_approval_is_for_this_action_in_time_and_once(*, late: bool, asked: bool, allowed: bool) -> None:
    """Only a yes in time to the very question counts. Spec: POL-7."""
    court = Court()
    court.connect()
    court.propose()
    if asked:
        court.row("decision", "needs_approval", approval_id="a", effect=KEY, digest=digest_of(SAY))
    if allowed:
        court.account.on_allowed("a")
    court.now = 31.0 if late else 1.0
    court.allow(approval_id="a")
    if not asked:
        assert court.rules == ["an approval is for the very action asked"]
    elif late or not allowed:
        assert court.rules == ["an approval was given in time"]
    else:
        assert court.rules == []
        court.allow(approval_id="a")
        assert "an approval is used once" in court.rules


@pytest.mark.parametrize(
    ("redeemed_by", "after_s", "rule"),
    [(1, 1.0, None), (1, 10.0, "a handle is honoured in time"), (2, 1.0, "nothing of an old generation")],
)
def test_a_handle_is_honoured_in_time_by_its_own_generation(redeemed_by: int, after_s: float, rule: str | None) -> None:
    """Late, and by another connection. Fault: 27."""
    court = Court()
    court.connect()
    court.propose()
    court.allow()
    court.now = after_s
    court.account.on_redeemed(redeemed_by, KEY)
    assert court.rules == ([] if rule is None else [rule])


def test_a_handle_is_honoured_once_and_not_after_its_end() -> None:
    """Twice, after the end, and one that nobody minted. Fault: 27."""
    court = Court()
    court.do()
    court.settle("in_doubt")
    court.account.on_redeemed(1, KEY)
    court.account.on_redeemed(1, "f" * 64)
    court.account.on_dishonest("a copied handle")
    assert court.rules == [
        "a handle is honoured once",
        "what has ended is not honoured",
        "only what was authorised is honoured",
        "no trick makes a handle",
    ]


def test_what_is_done_was_authorised_redeemed_and_not_changed() -> None:
    """Twice, unredeemed, held, of an old generation, with other words. Spec: POL-1, POL-2, POL-12; Fault: 29."""
    court = Court()
    court.do()
    court.perform()
    assert court.rules == ["an effect is done at most once"]
    court = Court()
    court.connect()
    court.propose()
    court.allow()
    court.row("hold", "held")
    court.connect(2)
    court.perform(wanted.Say(text="other"))
    assert court.rules == [
        "only what was redeemed is done",
        "nothing is done while held",
        "nothing of an old generation",
        "what was authorised is what is done",
    ]


def test_the_policy_is_worked_out_anew() -> None:
    """Cell, taint, approval, dry run and sums, each by its own rule. Spec: POL-4, POL-5, POL-6, POL-11, POL-14."""
    court = Court(matrix={"direct_im": {"speak": "deny"}}, tainted={"speak": "deny"}, dry_run=True, budgets={})
    court.connect()
    court.propose()
    court.allow(tainted=True)
    court.account.on_redeemed(1, KEY)
    court.perform()
    assert court.rules == [
        "the matrix holds",
        "the rules over arguments hold",
        "a dry run does nothing",
        "no budget is overrun",
    ]
    court = Court()
    court.do(wanted.UploadAsset(name="n", kind="k", sha256="0" * 64))
    assert court.rules == ["a person was asked"]


def test_confirmed_means_that_it_happened() -> None:
    """Money that did not move, an item that did not come, a state nobody told of, nothing sent. Spec: EFX-1."""
    for action, changed in ((PAY, {"balance": 0}), (wanted.CreateLandmark(name="n"), {"items": 0})):
        court = Court()
        court.do(action, **changed)
        court.settle("confirmed", str(type(action).__struct_config__.tag))
        assert court.rules == ["confirmed means happened"]
    court = Court()
    court.do(PAY, balance=-3)
    court.account.on_told(BalanceChanged(balance=1, change=-3))
    court.settle("confirmed", "pay_avatar")
    assert court.rules == []
    court = Court()
    court.connect()
    court.propose()
    court.allow()
    court.settle("confirmed")
    assert court.rules == ["confirmed means sent"]
    court.account.on_redeemed(1, KEY)
    court.rows += 0
    court = Court()
    court.connect()
    court.propose()
    court.allow()
    court.account.on_redeemed(1, KEY)
    court.settle("confirmed")
    assert court.rules == ["confirmed means happened"]


def test_a_state_must_have_been_told_and_a_message_acknowledged() -> None:
    """A walk needs a position, an IM the world's word for it. Spec: EFX-1."""
    walk = wanted.WalkTo(position=Position(x=1.0, y=1.0))
    court = Court()
    court.now = 500.0
    court.do(walk)
    court.settle("confirmed", "walk_to")
    assert court.rules == ["confirmed means happened"]
    court = Court()
    court.now = 500.0
    court.do(walk)
    court.account.on_told(SelfMoved(region="Plaza", position=Position(x=1.0, y=1.0)))
    court.settle("confirmed", "walk_to")
    assert court.rules == []
    message = wanted.SendIm(to=OWNER, text="x")
    court = Court()
    court.do(message)
    court.settle("confirmed", "send_im")
    assert court.rules == ["confirmed means happened"]
    court = Court()
    court.do(message)
    court.account.on_told(Delivered(reference=REFERENCE))
    court.settle("confirmed", "send_im")
    assert court.rules == []


def test_an_effect_ends_once_and_only_by_hand_again() -> None:
    """Two ends, an end of nothing, doubt about what was not sent, refused money that moved. Spec: EFX-1, EFX-2."""
    court = Court()
    court.do(PAY, balance=-3)
    court.settle("refused", "pay_avatar")
    court.settle("in_doubt", "pay_avatar")
    court.settle("refused", "say", "f" * 64)
    assert court.rules == ["refused money did not move", "one outcome an effect", "only what was authorised ends"]
    court = Court()
    court.do(PAY)
    court.settle("in_doubt", "pay_avatar")
    court.account.on_order(1, "settle_effect", effect=KEY)
    court.settle("confirmed", "pay_avatar")
    assert court.rules == []
    court = Court()
    court.connect()
    court.propose()
    court.allow()
    court.settle("in_doubt")
    assert court.rules == ["doubt only about what was sent"]


def test_what_is_observed_is_what_was_recorded() -> None:
    """An end that was not authorised, one seen twice, one that differs. Spec: BND-3, EFX-1."""
    court = Court()
    court.do()
    court.settle("refused")
    court.see("outcome", effect=KEY, outcome=OutcomeView(outcome="confirmed"))
    court.see("outcome", effect=KEY, outcome=OutcomeView(outcome="refused"))
    court.see("outcome", effect="f" * 64)
    assert court.rules == [
        "what is said is what is recorded",
        "one outcome an effect",
        "only what was authorised ends",
    ]


def test_events_are_of_the_present_connection() -> None:
    """Marked events of an old generation, and any without a connection. Spec: SUP-5."""
    court = Court()
    court.see("event", event=EventView(event="alert_shown", text="words"))
    assert court.rules == ["no event without a connection"]
    court = Court()
    court.see("link_state", state="online")
    court.see("event", generation=2, event=EventView(event="alert_shown", text="canary 2 x"))
    court.see("event", generation=2, event=EventView(event="alert_shown", text="canary 1 x"))
    court.see("event", generation=2)
    assert court.rules == ["no event of an old generation"]
    court = Court()
    court.account.on_lag()
    court.see("event", event=EventView(event="alert_shown"))
    assert court.rules == []


def test_generations_count_up_end_once_and_log_out_once() -> None:
    """Twice the same number, two ends, two logouts, a logout that was not made. Spec: SUP-5, SUP-9, BND-5."""
    court = Court()
    court.connect()
    court.connect()
    court.account.on_logout(1)
    court.account.on_logout(1)
    court.see("generation_closed", generation=3, logged_out=True)
    court.see("generation_closed", generation=3, logged_out=False)
    assert court.rules == [
        "generations count up",
        "one logout a generation",
        "a logout that is reported was made",
        "a generation ends once",
    ]


def test_every_control_has_one_reply() -> None:
    """None, two, and replies that nobody could see; one more where the service asked itself. Spec: SUP-8."""
    court = Court()
    court.account.on_order(1, "pause")
    court.account.end()
    court.account.on_reply(1, "ok")
    court.account.on_reply(1, "ok")
    court.account.end()
    assert court.rules == ["one reply a control"] * 3
    court = Court()
    court.account.on_order(1, "pause")
    court.account.on_reply(1, None)
    court.account.on_order(2, "pause")
    court.account.on_reply(2, "stopped")
    court.see("control", control="shut_down")
    court.account.end()
    assert court.rules == []
    court.account.on_order(3, "pause")
    court.account.on_reply(3, "ok")
    court.account.on_lag()
    court.account.end()
    assert court.rules == []


def test_what_never_ends_is_named() -> None:
    """An effect without an outcome when the service is gone. Spec: EFX-1."""
    court = Court()
    court.do()
    court.account.end()
    assert court.rules == ["every effect ends"]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proposals and references are forgotten, oldest first."""
    monkeypatch.setattr("gridagent.simulation.oracle.PROPOSALS_KEPT", 2)
    court = Court()
    for number in range(5):
        court.propose(ordinal=number)
        court.account.on_told(Delivered(reference=f"r{number}"))
    assert len(court.account._proposed) == 2
    assert list(court.account._references) == ["r3", "r4"]


@pytest.mark.parametrize(
    ("origin", "cause", "right"),
    [
        ("direct_im", "3.u1", True),
        ("direct_im", "u1", True),
        ("direct_im", "x.u1", False),
        ("goal", "3.u1", False),
        ("goal", "u1", True),
    ],
)
def test_what_was_heard_carries_its_connection(origin: str, cause: str, *, right: bool) -> None:
    """The session puts the connection before the id of words; other causes stay as they were named."""
    court = Court()
    court.connect(3)
    court.propose()
    court.allow(generation=3, origin=origin, cause=cause)
    assert court.rules == ([] if right else ["somebody asked for it"])


def test_what_has_no_canonical_form_has_no_digest() -> None:
    """A bool is no amount, and equal numbers are one action."""
    assert digest_of(wanted.PayAvatar(to=OWNER, amount=True)) == ""
    assert digest_of(wanted.TurnTo(heading_deg=5)) == digest_of(wanted.TurnTo(heading_deg=5.0)) != ""


def test_the_oracle_shares_no_code_with_what_it_judges() -> None:
    """It imports the vocabulary, JSON and its own rooms, and nothing of policy, session or runtime. Spec: SIM-3."""
    folder = Path(simulation.__file__).parent
    allowed = {"gridagent.actions", "gridagent.events"}
    own = {"gridagent.simulation.rulebook", "gridagent.simulation.views"}
    for module in ("oracle", "rulebook", "views", "counters"):
        tree = ast.parse((folder / f"{module}.py").read_text(encoding="utf-8"))
        names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        assert {name for name in names if name.startswith("gridagent")} <= allowed | own, module
