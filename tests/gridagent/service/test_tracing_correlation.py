"""One correlation id joins an utterance with everything it led to (Spec: MND-14, OPS-2)."""

from __future__ import annotations

from functools import partial

import msgspec
import trio
import trio.testing

from gridagent import observations as told
from gridagent.actions import Say
from gridagent.authority import Origin, Principal
from gridagent.cli.journal import audit_sink
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.events import ChatHeard, Speaker, SpeakerKind
from gridagent.grid.puppet import Puppet
from gridagent.ids import AvatarId, CorrelationId
from gridagent.mind import Attention, Proposal, QuietMind
from gridagent.observability import Redactor, open_log
from gridagent.observability.spans import RecordedSpans
from gridagent.observations import AgentState, Observation
from gridagent.policy import Policy
from gridagent.runtime.channels import Lagged
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AuditTrail, AvatarSpec, open_service
from gridagent.service.tracing import Tracing
from gridagent.session import OnBackendFailure, SessionSettings

ANN = "00000000-0000-4000-8000-00000000000a"
BUDGETS = {meter: [{"per": "global", "limit": 1_000, "window_s": 60}] for meter in ("calls.speak", "speech_bytes")}
SECTION = {"preset": "greeter", "matrix": {"public_chat": {"speak": "anyone"}}, "budgets": BUDGETS}


class Greeter(QuietMind):
    """Answers each utterance in a turn of its own."""

    def hear(self, event, around, now):
        if not isinstance(event, ChatHeard) or event.source.kind is not SpeakerKind.AVATAR:
            return ()
        correlation = CorrelationId(f"{around.generation}.{event.utterance_id}")
        speech = Proposal(
            action=Say(text="Hello."),
            principal=Principal(avatar_id=AvatarId(event.source.id)),
            origin=Origin.PUBLIC_CHAT,
            cause=event.utterance_id,
        )
        return (
            Attention(utterance_id=event.utterance_id, answers=True, code="addressed"),
            told.TurnStarted(correlation=correlation, mode="addressed"),
            speech,
            told.TurnEnded(correlation=correlation, stop="answered"),
        )


async def test_an_utterance_is_followed_from_the_event_to_the_audit_row(autojump_clock):
    """Spec: MND-14 — event, attention, turn, decision, outcome, span, audit rows and their log lines share one id."""
    puppet, ports, lines, sink = Puppet(), simulated_ports(0), [], RecordedSpans()
    log = open_log(lines.append, Redactor(), clock=ports.clock.wall)
    audit = AuditTrail(partial(audit_sink, log))
    spec = AvatarSpec(
        settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT),
        policy=Policy(msgspec.convert(SECTION, PolicySection), RolesSection()),
        mind=Greeter(),
        backend=puppet,
    )
    tracing, seen = Tracing(sink, wall_minus_monotonic=0.0), []
    async with open_service([spec], ports=ports, audit=audit) as service:
        session = service.avatar("robin")
        with session.observe("test") as watched:
            await session.wait_agent(AgentState.RUNNING)
            for utterance in ("one", "two"):
                source = Speaker(kind=SpeakerKind.AVATAR, id=ANN, name="Ann")
                await puppet.now.push(ChatHeard(utterance_id=utterance, source=source, text="hello"))
                await trio.testing.wait_all_tasks_blocked()
            for observation in watched.drain_nowait():
                assert not isinstance(observation, Lagged)
                seen.append(observation)
                tracing.take(observation)
    for utterance in ("one", "two"):
        (event,) = (each for each in seen if getattr(_event(each), "utterance_id", "") == utterance)
        # the id is made of the connection and the utterance, so the event leads to it and it leads to the event
        correlation = f"{event.generation}.{utterance}"
        (attention,) = (each for each in seen if getattr(each.body, "utterance_id", "") == utterance)
        names = [type(each.body).__name__ for each in seen if getattr(each.body, "correlation", "") == correlation]
        assert names == ["TurnStarted", "ActionDecided", "TurnEnded", "ActionSettled"]
        assert event.seq < attention.seq
        rows = [row for _, row in audit if row.correlation == correlation]
        assert [row.kind.value for row in rows] == ["decision", "settlement"]
        written = [msgspec.json.decode(line) for line in lines if f'"correlation":"{correlation}"' in line]
        assert [line["kind"] for line in written] == ["decision", "settlement"]
        spans = [span for span in sink if span.attributes["gridagent.correlation"] == correlation]
        assert [(span.name, span.error) for span in spans] == [("invoke_agent robin", ""), ("action say", "")]
        assert spans[1].parent == spans[0].number
        assert all(span.ended is not None for span in spans)


def _event(observation: Observation) -> object:
    return observation.body.event if isinstance(observation.body, told.EventSeen) else None
