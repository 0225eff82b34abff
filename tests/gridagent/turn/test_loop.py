"""The loop of a turn: what is asked and performed, what becomes of replies, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import pytest

from gridagent.actions import Capability, Confirmed, EvidenceKind, Position
from gridagent.authority import DenialCode, Origin, Principal, Role, TextSource
from gridagent.config.policy import PolicySection
from gridagent.conversation.entries import Heard, Said
from gridagent.conversation.keys import Channel, PersonKey
from gridagent.errors import IllegalTransition, InternalError
from gridagent.events import AvatarView, GridProfile
from gridagent.ids import AvatarId, AvatarKey, CorrelationId
from gridagent.language import (
    BadReply,
    CacheUse,
    FailureKind,
    FinishReason,
    LlmFailure,
    LlmReply,
    LlmRequest,
    SystemTurn,
    ToolCall,
    ToolTurn,
    Usage,
    pairing_problem,
)
from gridagent.llm.offline.model import answer
from gridagent.policy import Policy
from gridagent.policy.decisions import Denied
from gridagent.presence.persona import Persona
from gridagent.tools import Access, Registry, ResultCode, ToolOutcome, TurnMode
from gridagent.tools.descriptor import Port
from gridagent.tools.envelope import Acted, Answered, Broke, Decided, TimedOut
from gridagent.tools.ports import Around, Balance
from gridagent.turn import AskModel, Brief, GiveUp, Perform, StopReason, Turn, TurnLimits, TurnResult
from gridagent.turn.gates import Draft, refused_by
from gridagent.turn.prompts import Correction
from gridagent.turn.states import TurnState

WHO = AvatarId("1a2b3c4d-0000-4000-8000-00000000000a")
BOB = AvatarId("2b2b3c4d-0000-4000-8000-00000000000b")
PERSONA = Persona(
    style="Kind.", name="Ruth", digest="d", fallback_lines=("Say that again?", "Pardon?"), tired_line="I need a rest."
)
POLICY = Policy(
    msgspec.convert(
        {"preset": "builder", "matrix": {"public_chat": {each.value: "anyone" for each in Capability}}}, PolicySection
    )
)
HERE = Position(x=1, y=2, z=3)
LOOKED = Answered(
    answer=Around(
        region="Plaza",
        position=HERE,
        posture=None,
        avatars=(AvatarView(avatar_id=BOB, name="Bob Stone", position=HERE, distance_m=3.0),),
        more_avatars=0,
        objects=(),
        more_objects=0,
    )
)
PAID = Acted(Confirmed(evidence=EvidenceKind.BALANCE))
PAY = ("pay_avatar", f'{{"to":"{WHO}","amount":500}}')


def access(mode: TurnMode = TurnMode.ADDRESSED, role: Role = Role.TRUSTED) -> Access:
    """Return what a turn may use."""
    return Access(
        Registry(),
        mode=mode,
        origin=Origin.PUBLIC_CHAT,
        role=role,
        policy=POLICY,
        profile=GridProfile(grid="test"),
        ports=frozenset(Port),
    )


def brief(words: str = "hello", **changes: object) -> Brief:
    """Return a brief about some words of a stranger."""
    mode = changes.get("mode", TurnMode.ADDRESSED)
    assert isinstance(mode, TurnMode)
    heard = Heard(who="Alice", avatar_id=WHO, source=TextSource.STRANGER, text=words, at=1.0, tainted=False)
    given: Mapping[str, object] = {
        "correlation": CorrelationId("c"),
        "cause": "u",
        "mode": mode,
        "key": PersonKey(avatar=AvatarKey("ruth"), grid="test", peer=WHO, channel=Channel.PUBLIC),
        "principal": Principal(avatar_id=WHO),
        "origin": Origin.PUBLIC_CHAT,
        "role": Role.STRANGER,
        "persona": PERSONA,
        "now_said": (heard,),
        "access": access(mode),
        "wall": 62.0,
        **changes,
    }
    return Brief(**given)  # type: ignore[arg-type]


def calls(*wanted: tuple[str, str], text: str = "", finish: FinishReason = FinishReason.TOOL_CALLS) -> LlmReply:
    """Return a reply that calls tools."""
    made = tuple(ToolCall(id=f"c{n}", name=name, arguments=raw) for n, (name, raw) in enumerate(wanted))
    return LlmReply(text=text, tool_calls=made, finish=finish)


Step = str | LlmReply | LlmFailure


class Played:
    """A turn that was run against a list of replies, with what went by."""

    def __init__(self, steps: Sequence[Step], *, outcomes: Mapping[str, ToolOutcome] | None = None) -> None:
        self.steps = list(steps)
        self.outcomes = {
            "look_around": LOOKED,
            "pay_avatar": PAID,
            "check_balance": Answered(answer=Balance(balance=7)),
        }
        self.outcomes.update(outcomes or {})
        self.requests: list[LlmRequest] = []
        self.performed: list[Perform] = []

    def run(self, turn: Turn) -> TurnResult:
        """Run a turn to its end."""
        while not turn.done:
            effects = turn.next_effects()
            assert effects or turn.done
            for effect in effects:
                if isinstance(effect, AskModel):
                    assert pairing_problem(effect.request.turns) is None
                    self.requests.append(effect.request)
                    self._reply(turn, effect.number)
                else:
                    self.performed.append(effect)
                    assert turn.call_ended(effect.start.ordinal, self.outcomes[effect.start.call.name])
        assert turn.next_effects() == ()
        return turn.result()

    def _reply(self, turn: Turn, number: int) -> None:
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if isinstance(step, LlmFailure):
            assert turn.model_failed(number, step)
        else:
            assert turn.model_replied(number, LlmReply(text=step) if isinstance(step, str) else step)


def play(words: str, *steps: Step, limits: TurnLimits | None = None, **changes: object) -> tuple[TurnResult, Played]:
    """Run a turn about some words against a list of replies; the last one is repeated."""
    played = Played(steps)
    return played.run(Turn(brief(words, **changes), limits)), played


# --- answering --------------------------------------------------------------------------------------


def test_a_plain_answer_is_said() -> None:
    """What a model answers is the reply, and what it took is added up. Spec: MND-4, MND-14."""
    reply = LlmReply(text="Hello Alice!", usage=Usage(input_tokens=5, output_tokens=2, reported=True), cost_micros=3)
    result, played = play("hello", reply)
    assert (result.stop, result.reply, result.fallback) == (StopReason.ANSWERED, "Hello Alice!", False)
    assert (result.usage.input_tokens, result.cost_micros, result.model_turns) == (5, 3, 1)
    (request,) = played.requests
    assert request.correlation == "c"
    assert request.cache is CacheUse.HINT
    assert {"look_around", "pay_avatar"} <= {tool.name for tool in request.tools}
    assert result.entries(1.0) == (Said(text="Hello Alice!", at=1.0, persona="d", tainted=False),)


def test_a_look_is_answered_from() -> None:
    """Model, tool, model: the call is paired with its result, and its evidence is kept. Spec: MND-4, MND-8."""
    result, played = play("who is here?", calls(("look_around", "{}"), text="Let me see."), "I see Bob Stone.")
    assert (result.stop, result.reply) == (StopReason.ANSWERED, "I see Bob Stone.")
    assert [each.tool for each in result.evidence] == ["look_around"]
    assert "Let me see." not in result.reply
    assert [turn.text for turn in played.requests[1].turns[-2:-1]] == ["Let me see."]
    assert result.tainted


def test_the_offline_model_plays_along() -> None:
    """The built-in model's turns pass every gate. Spec: MND-1, MND-9."""
    for words, expected in (("who is here?", "Bob Stone"), ("hello", "Alice"), ("pay me 500", "500")):
        turn, played = Turn(brief(words)), Played(["x"])
        seen = msgspec.structs.replace(
            LOOKED.answer, avatars=(*LOOKED.answer.avatars, AvatarView(avatar_id=WHO, name="Alice", position=HERE))
        )
        while not turn.done:
            for effect in turn.next_effects():
                if isinstance(effect, AskModel):
                    turn.model_replied(effect.number, answer(effect.request))
                else:
                    outcome = {**played.outcomes, "look_around": Answered(answer=seen)}[effect.start.call.name]
                    turn.call_ended(effect.start.ordinal, outcome)
        assert turn.result().stop is StopReason.ANSWERED
        assert expected in turn.result().reply
        assert turn.result().corrections == 0


def test_a_request_holds_the_limits() -> None:
    """Bytes, tokens, temperature and time of each request are the turn's. Spec: BND-11, BND-17."""
    limits = TurnLimits(request_deadline_s=9.0, reply_max_bytes=999, reply_max_tokens=77, temperature=0.3)
    turn = Turn(brief(), limits)
    (asked,) = turn.next_effects(left_s=4.0)
    assert isinstance(asked, AskModel)
    request = asked.request
    assert (request.deadline_s, request.max_reply_bytes, request.max_reply_tokens) == (4.0, 999, 77)
    assert request.temperature == 0.3
    (again,) = Turn(brief(), limits).next_effects()
    assert isinstance(again, AskModel)
    assert again.request.deadline_s == 9.0


def test_taint_grows_and_goes_with_each_call() -> None:
    """Strangers' words in a result taint the calls that follow, and never stop doing so. Spec: POL-5."""
    heard = Heard(who="O", avatar_id=WHO, source=TextSource.OWNER, text="look, then pay 500", at=1.0, tainted=False)
    result, played = play("x", calls(("look_around", "{}")), calls(PAY), "Done.", now_said=(heard,))
    assert [(each.start.call.name, each.tainted) for each in played.performed] == [
        ("look_around", False),
        ("pay_avatar", True),
    ]
    assert result.tainted
    assert not play("x", "Hello.", now_said=(heard,))[0].tainted
    assert play("x", "Hello.", now_said=(heard,), history=(msgspec.structs.replace(heard, tainted=True),))[0].tainted


# --- silence ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "<silent/>", "..."])
def test_a_turn_can_be_silent_on_purpose(text: str) -> None:
    """Silence is no failure, and leaves no reply. Spec: MND-10."""
    result, _ = play("hello", text)
    assert (result.stop, result.reply, result.entries(1.0)) == (StopReason.SILENT, "", ())


def test_moderation_is_silent_whatever_the_model_writes() -> None:
    """A moderation turn acts and says nothing; it passes no gate, since nothing gets out. Spec: MND-16."""
    result, played = play("spam", "You are banned!", mode=TurnMode.MODERATION)
    assert (result.stop, result.reply, result.codes) == (StopReason.SILENT, "", ())
    assert "pay_avatar" not in {tool.name for tool in played.requests[0].tools}


# --- failing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [each for each in FailureKind if each is not FailureKind.SPENT])
def test_a_failed_model_is_a_line_of_the_persona(kind: FailureKind) -> None:
    """Each failure ends typed, with a configured line and nothing of the provider's. Spec: MND-3. Fault: 21."""
    result, played = play("hello", LlmFailure(kind, status=500, retry_after_s=1e9))
    assert result.stop is (StopReason.TOO_LARGE if kind is FailureKind.TOO_LARGE else StopReason.MODEL_FAILED)
    assert result.fallback
    assert result.reply in PERSONA.fallback_lines
    assert f"model_{kind.value}" in result.codes
    assert len(played.requests) <= 2


def test_lines_differ_by_turn_and_not_by_chance() -> None:
    """Which line is said follows from the turn's own id. Spec: MND-3."""
    failure = LlmFailure(FailureKind.TIMEOUT)
    said = {name: play("x", failure, correlation=CorrelationId(name))[0].reply for name in "abcdefgh"}
    assert set(said.values()) == set(PERSONA.fallback_lines)
    assert said == {name: play("x", failure, correlation=CorrelationId(name))[0].reply for name in "abcdefgh"}


@pytest.mark.parametrize("mode", [TurnMode.AMBIENT, TurnMode.GOAL, TurnMode.SCHEDULE, TurnMode.MODERATION])
def test_nobody_hears_a_failure_who_did_not_ask(mode: TurnMode) -> None:
    """Where nobody waits for an answer, a failed turn is silent. Spec: MND-3."""
    for failure in (LlmFailure(FailureKind.TIMEOUT), LlmFailure(FailureKind.SPENT)):
        result, _ = play("x", failure, mode=mode)
        assert (result.reply, result.fallback) == ("", False)


def test_a_spent_budget_is_the_tired_line() -> None:
    """When tokens or money are used up, the persona says that it needs a rest. Spec: MND-12."""
    result, _ = play("x", LlmFailure(FailureKind.SPENT))
    assert (result.stop, result.reply, result.fallback) == (StopReason.SPENT, "I need a rest.", True)
    assert play("x", LlmFailure(FailureKind.SPENT), persona=Persona(style="", tired_line=""))[0].reply == ""


def test_a_persona_without_lines_says_nothing() -> None:
    """No configured line means silence. Spec: MND-3."""
    result, _ = play("x", LlmFailure(FailureKind.AUTH), persona=Persona(style="", fallback_lines=()))
    assert (result.stop, result.reply, result.fallback) == (StopReason.MODEL_FAILED, "", False)


def test_a_model_without_tools_is_asked_without_them_once() -> None:
    """A server that cannot be offered tools answers in words. Spec: MND-2."""
    result, played = play("hello", LlmFailure(FailureKind.TOOLS_UNSUPPORTED), "Hi!")
    assert (result.stop, result.reply) == (StopReason.ANSWERED, "Hi!")
    assert [bool(request.tools) for request in played.requests] == [True, False]


def test_without_tools_there_is_nothing_to_leave_out() -> None:
    """Where no tool was offered, a model that cannot use them is a failure like any other. Spec: MND-2."""
    bare = Access(
        Registry(),
        mode=TurnMode.ADDRESSED,
        origin=Origin.OBJECT_TEXT,
        role=Role.OBJECT,
        policy=POLICY,
        profile=None,
        ports=frozenset(),
    )
    result, played = play("hello", LlmFailure(FailureKind.TOOLS_UNSUPPORTED), "Hi!", access=bare)
    assert (result.stop, len(played.requests)) == (StopReason.MODEL_FAILED, 1)


def test_a_request_too_large_for_the_model_is_made_smaller_once() -> None:
    """History gives way once; after that the turn fails typed. Spec: BND-17."""
    talk = [
        Heard(who="Alice", avatar_id=WHO, source=TextSource.STRANGER, text=f"q{n} " * 50, at=0.0, tainted=False)
        if n % 2
        else Said(text=f"a{n} " * 50, at=0.0, persona="d", tainted=False)
        for n in range(60)
    ]
    failure = LlmFailure(FailureKind.TOO_LARGE)
    result, played = play("hello", failure, "Hi!", history=tuple(talk))
    assert result.reply == "Hi!"
    assert len(played.requests[1].turns) < len(played.requests[0].turns) / 2
    result, played = play("hello", failure, history=tuple(talk))
    assert (result.stop, len(played.requests)) == (StopReason.TOO_LARGE, 2)


def test_what_fits_into_no_request_is_never_asked() -> None:
    """Where not even the newest message fits, no request is made. Spec: BND-17."""
    turn = Turn(brief(), TurnLimits(request_max_bytes=500))
    assert turn.next_effects() == ()
    assert turn.result().stop is StopReason.TOO_LARGE
    assert turn.result().model_turns == 0


def test_a_reply_cut_before_its_first_word_is_a_failure() -> None:
    """A model that used its whole answer up for thinking has not chosen silence. Spec: MND-2."""
    result, _ = play("hello", LlmReply(finish=FinishReason.LENGTH))
    assert (result.stop, result.fallback) == (StopReason.MODEL_FAILED, True)


def test_a_cut_reply_ends_with_its_last_whole_sentence() -> None:
    """Half a sentence is not said. Spec: MND-9."""
    result, _ = play("hello", LlmReply(text="Hello Alice. I was just abo", finish=FinishReason.LENGTH))
    assert result.reply == "Hello Alice."


# --- calls --------------------------------------------------------------------------------------------


def test_calls_of_a_cut_reply_never_run() -> None:
    """Nobody can tell which arguments of a cut reply are whole, so all its calls are refused. Spec: MND-5, MND-7."""
    result, played = play(
        "pay me", calls(PAY, ("look_around", "{}"), finish=FinishReason.LENGTH), "I have not paid you."
    )
    assert played.performed == []
    assert [each.result.code for each in result.settled] == [ResultCode.CUT_OFF] * 2
    assert result.stop is StopReason.ANSWERED


def test_outcomes_of_any_order_come_back_in_call_order() -> None:
    """Parallel looks end as they like; the model sees them as it asked. Spec: MND-6."""
    turn = Turn(brief("who is here, and what do you have?"))
    (asked,) = turn.next_effects()
    assert isinstance(asked, AskModel)
    turn.model_replied(asked.number, calls(("look_around", "{}"), ("check_balance", "{}")))
    first, second = turn.next_effects()
    assert isinstance(first, Perform)
    assert isinstance(second, Perform)
    assert turn.running == (0, 1)
    assert turn.call_ended(second.start.ordinal, Answered(answer=Balance(balance=7)))
    assert turn.next_effects() == ()
    assert turn.call_ended(first.start.ordinal, LOOKED)
    (again,) = turn.next_effects()
    assert isinstance(again, AskModel)
    assert [turn.name for turn in again.request.turns if isinstance(turn, ToolTurn)] == ["look_around", "check_balance"]


def test_answers_to_nothing_are_dropped_and_counted() -> None:
    """Late, repeated and made-up answers change nothing. Spec: MND-11, SUP-5."""
    turn = Turn(brief())
    assert not turn.model_replied(0, LlmReply(text="early"))
    (asked,) = turn.next_effects()
    assert isinstance(asked, AskModel)
    assert turn.asking == 0
    assert turn.next_effects() == ()
    assert not turn.model_replied(7, LlmReply(text="other"))
    assert not turn.model_failed(7, LlmFailure(FailureKind.TIMEOUT))
    assert not turn.call_ended(0, Broke())
    assert turn.model_replied(0, calls(("look_around", "{}")))
    assert not turn.model_replied(0, LlmReply(text="again"))
    (start,) = turn.next_effects()
    assert isinstance(start, Perform)
    assert turn.call_ended(0, LOOKED)
    assert not turn.call_ended(0, Broke())
    assert turn.late == 6
    assert turn.model_replied(0, LlmReply()) is False
    assert turn.model_failed(0, LlmFailure(FailureKind.TIMEOUT)) is False
    assert turn.call_ended(0, Broke()) is False


def test_a_reply_without_an_id_for_its_calls_is_paired_all_the_same() -> None:
    """Two replies that use one id are told apart. Spec: MND-4."""
    _, played = play("x", calls(("look_around", "{}")), calls(("check_balance", "{}")), "Fine.")
    ids = [turn.call_id for turn in played.requests[-1].turns if isinstance(turn, ToolTurn)]
    assert len(set(ids)) == 2


# --- bounds -------------------------------------------------------------------------------------------


def test_going_round_is_noticed_and_ended() -> None:
    """The same call with the same result twice takes the tools away; calling on ends the turn. Spec: MND-12."""
    result, played = play("x", calls(("look_around", "{}")))
    assert result.stop is StopReason.NO_PROGRESS
    assert len(played.performed) == 1
    assert [bool(request.tools) for request in played.requests] == [True, True, True, False]
    assert result.settled[-1].result.code is ResultCode.TOO_MANY_CALLS
    assert len(result.settled) == 4
    look = calls(("look_around", "{}"))
    result, _ = play("who is here?", look, look, look, "I see Bob Stone.")
    assert (result.stop, result.codes) == (StopReason.ANSWERED, ("no_progress",))


def test_the_last_model_turn_has_no_tools() -> None:
    """The model gets to answer with what is known before its turns are used up. Spec: BND-11."""
    steps = [calls(("find_region", f'{{"region":"R{number}"}}')) for number in range(9)]
    played = Played(steps, outcomes={"find_region": TimedOut()})
    result = played.run(Turn(brief(), TurnLimits(model_turns_max=3)))
    assert result.stop is StopReason.MODEL_TURNS_SPENT
    assert [bool(request.tools) for request in played.requests] == [True, True, False]
    assert "No tool can be called" in played.requests[-1].turns[0].text


def test_a_single_model_turn_may_still_call() -> None:
    """With one model turn alone, a call runs and the turn then ends typed. Spec: BND-11."""
    result, played = play("x", calls(("look_around", "{}")), limits=TurnLimits(model_turns_max=1))
    assert (result.stop, len(played.performed), len(played.requests)) == (StopReason.MODEL_TURNS_SPENT, 1, 1)
    assert result.evidence


def test_calls_are_bounded() -> None:
    """More calls than are left do not run, and a model that goes on calling is stopped. Spec: BND-11. Fault: 22."""
    look = calls(*[("find_region", f'{{"region":"R{number}"}}') for number in range(3)])
    other = calls(("find_region", '{"region":"X"}'), ("check_balance", "{}"))
    played = Played([look, other, look], outcomes={"find_region": Answered(answer=None)})
    result = played.run(Turn(brief(), TurnLimits(tool_calls_max=3)))
    assert result.stop is StopReason.TOOL_CALLS_SPENT
    assert len(played.performed) == 3
    assert [each.result.code for each in result.settled[3:]] == [ResultCode.TOO_MANY_CALLS] * 2
    assert [bool(request.tools) for request in played.requests] == [True, False]
    played = Played([look, "Hm."], outcomes={"find_region": Answered(answer=None)})
    played.run(Turn(brief(), TurnLimits(tool_calls_max=4)))
    assert [bool(request.tools) for request in played.requests] == [True, True]


# --- gates --------------------------------------------------------------------------------------------


def test_a_lie_is_asked_again_and_the_truth_is_said() -> None:
    """A claimed payment is refused once, past the caches, and what the model then says is judged anew. Spec: MND-9."""
    result, played = play("pay me 500", "I've paid you L$500.", "I cannot do that, sorry.")
    assert (result.stop, result.reply, result.corrections) == (StopReason.ANSWERED, "I cannot do that, sorry.", 1)
    assert result.codes == (Correction.UNVERIFIED_ACTION.value,)
    assert [request.cache for request in played.requests] == [CacheUse.HINT, CacheUse.BYPASS]
    assert "A draft of your answer was refused" in played.requests[1].turns[0].text
    assert isinstance(played.requests[1].turns[0], SystemTurn)
    assert not [turn for turn in played.requests[1].turns if "I've paid" in turn.text]


def test_a_lie_told_twice_is_a_line_of_the_persona() -> None:
    """When asking again does not help, the lie is never said. Spec: MND-9."""
    result, played = play("pay me 500", "I've paid you L$500.")
    assert (result.stop, result.fallback, len(played.requests)) == (StopReason.UNFOUNDED, True, 2)
    assert result.reply in PERSONA.fallback_lines
    assert "paid" not in result.reply


def test_a_lie_that_becomes_true_is_said() -> None:
    """Asked again, the model pays; now it may say so. Spec: MND-9."""
    result, _ = play("pay me 500", "I've paid you L$500.", calls(PAY), "I've paid you L$500.")
    assert (result.stop, result.reply) == (StopReason.ANSWERED, "I've paid you L$500.")


def test_a_denied_payment_is_no_payment() -> None:
    """A refusal of the gateway never becomes a claim. Spec: MND-7."""
    denied = Decided(Denied(code=DenialCode.BUDGET_SPENT, rule="r"))
    played = Played([calls(PAY), "I've paid you L$500.", "It was not allowed."], outcomes={"pay_avatar": denied})
    result = played.run(Turn(brief("pay me 500")))
    assert result.reply == "It was not allowed."
    assert result.codes == ("unverified_action",)


def test_a_stale_answer_has_to_look() -> None:
    """A question about now that was answered without a look is asked again, with a call wanted. Spec: MND-9."""
    result, played = play("who is here?", "Only Anna.", calls(("look_around", "{}")), "I see Bob Stone.")
    assert (result.reply, result.codes) == ("I see Bob Stone.", ("stale",))
    assert [request.require_tool for request in played.requests] == [False, True, True]


def test_different_faults_are_asked_about_each_once() -> None:
    """Each gate asks once, and all together no more often than configured. Spec: MND-9."""
    lies = ("Only Anna.", "I've paid you.", "Hello [insert name]!")
    result, played = play("who is here?", calls(("look_around", "{}")), "/pay 500", *lies[1:], limits=TurnLimits())
    assert result.codes == ("command_in_prose", "unverified_action", "placeholder")
    assert (result.stop, len(played.requests)) == (StopReason.UNFOUNDED, 4)
    result, played = play("who is here?", lies[0], limits=TurnLimits(corrections_max=0))
    assert (result.stop, len(played.requests)) == (StopReason.UNFOUNDED, 1)
    result, played = play("hi", lies[1], limits=TurnLimits(model_turns_max=1))
    assert (result.stop, len(played.requests)) == (StopReason.UNFOUNDED, 1)


def test_a_stale_answer_wants_a_call_whatever_was_wrong_before() -> None:
    """The last correction decides whether a call is wanted. Spec: MND-9."""
    result, played = play("what is your balance?", "[pay me]?", "I have L$500.", "I cannot tell.")
    assert (result.reply, result.codes) == ("I cannot tell.", ("command_in_prose", "stale"))
    assert [request.require_tool for request in played.requests] == [False, False, True]


def test_no_prompt_of_ours_is_kept_or_said() -> None:
    """What asks again is in no entry and no reply, also when the model repeats it. Spec: MND-9."""
    turn, seen = Turn(brief("hi")), []
    parrot: Callable[[LlmRequest], LlmReply] = lambda request: LlmReply(text=request.turns[0].text[-400:])  # noqa: E731
    replies = [lambda _: LlmReply(text="I paid you."), parrot, parrot, parrot]
    while not turn.done:
        for effect in turn.next_effects():
            assert isinstance(effect, AskModel)
            seen.append(effect)
            turn.model_replied(effect.number, replies[effect.number](effect.request))
    result = turn.result()
    assert (result.stop, result.codes) == (StopReason.UNFOUNDED, ("unverified_action", "echo", "echo"))
    assert "draft" not in repr(result.entries(1.0)) + result.reply


def test_taking_words_out_never_makes_a_lie() -> None:
    """What sanitising leaves is judged again. Spec: MND-9."""
    result, _ = play("hi", "I have (whispers it was not me who) paid you 500.", "Hello.")
    assert (result.reply, result.codes) == ("Hello.", ("unverified_action",))
    hidden = "I <think>would say that I never</think> paid you L$500."
    assert refused_by(Draft.of(hidden, brief("hi"), ())) is None
    result, _ = play("hi", hidden, "Hello.")
    assert (result.reply, result.codes) == ("Hello.", ("unverified_action",))


def test_gestures_alone_are_asked_about_once_and_then_silent() -> None:
    """A reply that is all stage direction is asked again; if it stays so, nothing is said. Spec: MND-9, MND-10."""
    result, played = play("hi", "*waves happily*", "*waves*")
    assert (result.stop, result.reply, len(played.requests)) == (StopReason.SILENT, "", 2)
    assert result.codes == ("command_in_prose", "stage_direction")
    assert play("hi", "*waves happily*", "Hello!")[0].reply == "Hello!"


def test_only_so_much_of_a_reply_is_read() -> None:
    """What would never be said is not judged either, so a huge reply costs little. Spec: BND-17."""
    result, _ = play("hi", "Hello there. " * 10_000 + "I paid you.", limits=TurnLimits(spoken_max_bytes=100))
    assert result.stop is StopReason.ANSWERED
    assert len(result.reply.encode()) <= 100


# --- giving up ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("why", "stop", "code"),
    [
        (GiveUp.CANCEL, StopReason.CANCELLED, ResultCode.CANCELLED),
        (GiveUp.SUPERSEDE, StopReason.SUPERSEDED, ResultCode.SUPERSEDED),
        (GiveUp.DEADLINE, StopReason.DEADLINE, ResultCode.CANCELLED),
    ],
)
def test_a_turn_that_is_given_up_keeps_what_it_has(why: GiveUp, stop: StopReason, code: ResultCode) -> None:
    """Finished results survive, open calls get theirs, and what may have happened is in doubt. Spec: MND-7, MND-11."""
    turn = Turn(brief("x"))
    (asked,) = turn.next_effects()
    assert isinstance(asked, AskModel)
    turn.model_replied(0, calls(("look_around", "{}"), PAY, ("say", '{"text":"hi"}')))
    turn.next_effects()
    turn.call_ended(0, LOOKED)
    turn.next_effects()
    assert turn.give_up(why) == (1,)
    result = turn.result()
    assert result.stop is stop
    assert [each.result.code for each in result.settled] == [ResultCode.DONE, ResultCode.IN_DOUBT, code]
    assert [each.tool for each in result.evidence] == ["look_around"]
    assert result.tainted
    assert bool(result.reply) is (why is GiveUp.DEADLINE)
    assert turn.give_up(GiveUp.CANCEL) == ()
    assert turn.result() is result
    assert not turn.call_ended(1, PAID)
    assert not turn.model_replied(0, LlmReply(text="late"))


def test_the_deadline_ends_it() -> None:
    """With no time left the turn ends by itself, whatever it was doing. Spec: BND-11."""
    turn = Turn(brief())
    assert len(turn.next_effects(left_s=0.5)) == 1
    assert turn.next_effects(left_s=0.0) == ()
    assert turn.result().stop is StopReason.DEADLINE
    assert turn.result().fallback


def test_a_running_turn_has_no_result() -> None:
    """A result is there when the turn is over, and not before."""
    turn = Turn(brief())
    assert (turn.state, turn.done) == (TurnState.READY, False)
    with pytest.raises(InternalError, match="ready"):
        turn.result()
    with pytest.raises(IllegalTransition):
        turn._end(StopReason.SILENT) or turn._end(StopReason.SILENT)


def test_nothing_of_a_provider_gets_out() -> None:
    """No text of a failure is in a result, however it is looked at. Spec: MND-3. Fault: 42."""
    failure = LlmFailure(FailureKind.BAD_REPLY, bad_reply=BadReply.HTML, status=502)
    failure.__cause__ = ValueError("CANARY from the provider")
    result, _ = play("hello", failure)
    assert "CANARY" not in repr(result)
    assert str(failure) not in repr(result)
