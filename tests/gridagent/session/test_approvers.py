"""Claims about asking authorised avatars for a yes over IM."""

from contextlib import asynccontextmanager

import msgspec
import pytest
import trio

from gridagent.actions import PayAvatar, SendIm
from gridagent.authority import Origin, Principal, Provenance
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.controls import Hold
from gridagent.events import ChatHeard, ImReceived, Speaker, SpeakerKind
from gridagent.grid.puppet import Puppet
from gridagent.mind import Proposal, QuietMind
from gridagent.observations import AgentState, ApprovalClosed, ApprovalOpened, Diagnostic, EventSeen
from gridagent.policy import Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.session.approvers import IMS_MAX, IMS_WINDOW_S, MASK
from gridagent.storage import MemoryStore

OWNER = "00000000-0000-4000-8000-0000000000aa"
FRIEND = "00000000-0000-4000-8000-0000000000bb"
STRANGER = "00000000-0000-4000-8000-0000000000cc"
SECTION = {
    "preset": "observer",
    "approvers": "trusted",
    "matrix": {"public_chat": {"money": "trusted"}},
    "budgets": {
        meter: [{"per": "global", "limit": 100_000, "window_s": 86400}]
        for meter in ("calls.money", "linden", "calls.direct_message", "ims", "speech_bytes")
    },
}


class Payer(QuietMind):
    """A mind that pays what it is asked for, and remembers what it heard."""

    def __init__(self):
        self.heard = []

    def hear(self, event, around, now):
        self.heard.append(event)
        if not isinstance(event, ChatHeard):
            return ()
        return (
            Proposal(
                action=PayAvatar(to=event.source.id, amount=int(event.text)),
                principal=Principal(avatar_id=event.source.id),
                origin=Origin.PUBLIC_CHAT,
                cause=event.utterance_id,
                target_provenance=Provenance.AUTHORISED_WORDS,
            ),
        )


class Room:
    """One running avatar, what it did, and what was observed."""

    def __init__(self, robin, puppet, mind, seen):
        self.robin = robin
        self.puppet = puppet
        self.mind = mind
        self.seen = seen
        self.number = 0

    async def push(self, event):
        await self.puppet.now.push(event)
        await trio.sleep(1)

    async def ask(self, amount=5, who=FRIEND):
        """Somebody asks in chat for money; returns the nonces that went out, by receiver."""
        self.number += 1
        before = len(self.ims())
        source = Speaker(kind=SpeakerKind.AVATAR, id=who)
        await self.push(ChatHeard(utterance_id=f"u{self.number}", source=source, text=f"{amount}"))
        return {im.to: im.text.split("\n")[1].removeprefix("allow ") for im in self.ims()[before:]}

    async def im(self, text, who=OWNER, kind=SpeakerKind.AVATAR):
        """Somebody writes an IM."""
        self.number += 1
        await self.push(ImReceived(utterance_id=f"u{self.number}", source=Speaker(kind=kind, id=who), text=text))

    def ims(self):
        return [action for action in self.puppet.now.applied if isinstance(action, SendIm)]

    def paid(self):
        return [action.amount for action in self.puppet.now.applied if isinstance(action, PayAvatar)]

    def said(self):
        return [dict(body.fields)["said"] for body in self.bodies(Diagnostic) if body.code == "approval_answer"]

    def bodies(self, kind):
        return [each.body for each in self.seen if isinstance(each.body, kind)]


@asynccontextmanager
async def room(store=None, ports=None, **section):
    """Run one avatar whose owner and friend may answer."""
    puppet, mind, seen = Puppet(), Payer(), []
    spec = AvatarSpec(
        settings=SessionSettings(key="robin", on_backend_failure=OnBackendFailure.RECONNECT),
        policy=Policy(
            msgspec.convert({**SECTION, **section}, PolicySection), RolesSection(owners=(OWNER,), trusted=(FRIEND,))
        ),
        mind=mind,
        backend=puppet,
    )
    async with (
        open_service([spec], ports=ports or simulated_ports(1), store=store) as service,
        trio.open_nursery() as nursery,
    ):
        robin = service.avatar()
        with robin.observe("test") as subscription:

            async def collect():
                async for observation in subscription:
                    seen.append(observation)  # noqa: PERF401 - it grows while it is looked at

            nursery.start_soon(collect)
            await robin.wait_agent(AgentState.RUNNING)
            yield Room(robin, puppet, mind, seen)
            nursery.cancel_scope.cancel()


async def test_the_owner_is_asked_and_a_yes_pays_once(autojump_clock):
    """The question names the arguments; the answer counts once and the approver is told. Spec: POL-7."""
    async with room() as on:
        nonces = await on.ask(5)
        assert set(nonces) == {OWNER}  # the friend asked for it, so the friend may not answer
        assert "amount=5" in on.ims()[0].text
        assert on.paid() == []
        await on.im(f"Allow {nonces[OWNER]}")
        assert on.paid() == [5]
        assert [body.how for body in on.bodies(ApprovalClosed)] == ["allowed"]
        assert on.ims()[-1] == SendIm(to=OWNER, text="Your answer counted: allowed.")
        await on.im(f"allow {nonces[OWNER]}")
        assert on.paid() == [5]
        assert on.said() == ["already_answered"]
        assert on.ims()[-1].text == "Your answer did nothing: already answered."


async def test_a_no_ends_it(autojump_clock):
    """Denied, and nothing is done. Spec: POL-7."""
    async with room() as on:
        nonces = await on.ask(5)
        await on.im(f"deny {nonces[OWNER]}")
        await on.im(f"allow {nonces[OWNER]}")
        assert on.paid() == []
        assert [body.how for body in on.bodies(ApprovalClosed)] == ["denied"]


async def test_a_nonce_is_nowhere_but_in_its_im(autojump_clock):
    """Not in an observation, the stored changes or the audit trail; an answer reaches no mind. Spec: POL-7, POL-10."""
    ports = simulated_ports(1)

    class Diary(MemoryStore):
        def __init__(self, clock):
            super().__init__(clock)
            self.kept = []

        def submit(self, *records, urgent=False):
            self.kept += records
            super().submit(*records, urgent=urgent)

        async def commit(self, *records):
            self.kept += records
            return await super().commit(*records)

    store = Diary(ports.clock)
    async with room(store, ports) as on:
        nonces = await on.ask(5)
        await on.im(f"allow {nonces[OWNER]}")
        everything = msgspec.json.encode([on.seen, store.kept])
        assert nonces[OWNER].encode() not in everything
        assert nonces[OWNER] not in repr([on.seen, store.kept])
        assert MASK.encode() in everything
        assert not any(isinstance(event, ImReceived) for event in on.mind.heard)
        (shown,) = (body.event for body in on.bodies(EventSeen) if isinstance(body.event, ImReceived))
        assert shown.text == "(an answer to an approval)"
        assert on.paid() == [5]


@pytest.mark.parametrize(
    ("who", "said"), [(STRANGER, "wrong_person"), (FRIEND, "wrong_person")], ids=["stranger", "who asked"]
)
async def test_the_wrong_person_changes_nothing(autojump_clock, who, said):
    """Whoever has the nonce: a stranger, or the one who asked for it. Spec: POL-7."""
    async with room() as on:
        nonces = await on.ask(5)
        before = len(on.ims())
        await on.im(f"allow {nonces[OWNER]}", who=who)
        assert on.paid() == []
        assert on.said() == [said]
        assert len(on.ims()) - before == (0 if who == STRANGER else 1)
        await on.im(f"allow {nonces[OWNER]}")
        assert on.paid() == [5]


async def test_an_object_answers_nothing_and_is_heard_as_one(autojump_clock):
    """Text of an object may never cause anything, whoever owns it. Spec: POL-4, POL-7."""
    async with room() as on:
        nonces = await on.ask(5)
        await on.im(f"allow {nonces[OWNER]}", kind=SpeakerKind.OBJECT)
        assert on.paid() == []
        assert isinstance(on.mind.heard[-1], ImReceived)


async def test_a_nonce_answers_exactly_what_it_was_made_for(autojump_clock):
    """Changed arguments are another request with another nonce; the old one pays the old amount. Spec: POL-7."""
    async with room() as on:
        first = await on.ask(5)
        second = await on.ask(500)
        assert first[OWNER] != second[OWNER]
        await on.im(f"allow {first[OWNER]}")
        assert on.paid() == [5]
        assert len(on.robin.status().gateway.approvals) == 1


async def test_a_stale_or_made_up_nonce_does_nothing_and_says_so(autojump_clock):
    """After its time, and when nobody gave it out. Spec: POL-7."""
    async with room() as on:
        nonces = await on.ask(5)
        await on.im("allow 0000-0000-0000")
        await trio.sleep(on.robin._session.core.gateway.policy.approval_ttl_s + 1)
        await on.im(f"allow {nonces[OWNER]}")
        assert on.paid() == []
        assert on.said() == ["wrong_nonce", "expired"]


async def test_talk_about_an_answer_is_talk(autojump_clock):
    """Only a text that is an answer from end to end is one; the mind hears the rest. Spec: POL-7."""
    async with room() as on:
        nonces = await on.ask(5)
        await on.im(f"please allow {nonces[OWNER]}")
        assert on.paid() == []
        assert on.mind.heard[-1].text.startswith("please")


async def test_an_answer_after_a_restart_counts_once_and_nobody_is_asked_again(autojump_clock):
    """The nonce itself is gone, its hash is kept; an approval that ended says how. Spec: POL-7."""
    ports = simulated_ports(1)
    store = MemoryStore(ports.clock)
    async with room(store, ports) as on:
        kept = await on.ask(5)
        over = await on.ask(7)
        await on.im(f"deny {over[OWNER]}")
    async with room(store, ports) as on:
        assert on.ims() == []
        await on.im(f"allow {over[OWNER]}")
        await on.im(f"allow {kept[OWNER]}")
        await on.im(f"allow {kept[OWNER]}")
        assert on.paid() == [5]
        assert on.said() == ["already_answered", "already_answered"]


async def test_a_yes_that_meets_the_kill_switch_keeps_waiting(autojump_clock):
    """It is not used up, and nothing is sent, not even the reply. Spec: POL-7, POL-12."""
    async with room() as on:
        nonces = await on.ask(5)
        await on.robin.control(Hold())
        before = len(on.ims())
        await on.im(f"allow {nonces[OWNER]}")
        assert on.said() == ["not_now"]
        assert (on.paid(), len(on.ims())) == ([], before)
        assert len(on.robin.status().gateway.approvals) == 1


async def test_the_owner_alone_is_asked_unless_the_policy_says_trusted(autojump_clock):
    """Trusted avatars may answer for others, where the policy lets them. Spec: POL-7."""
    async with room() as on:
        assert set(await on.ask(5, who=OWNER)) == {OWNER, FRIEND}
    async with room(approvers="owner") as on:
        assert set(await on.ask(5, who=OWNER)) == {OWNER}


async def test_asking_is_bounded(autojump_clock):
    """Whoever asks for much makes no flood; the approvals still wait for the operator. Spec: POL-6, POL-7."""
    async with room(approvers="owner", approval_ttl_s=3600.0) as on:
        rounds = 0
        while len(on.ims()) < IMS_MAX and rounds < 4 * IMS_MAX:
            rounds += 1
            nonces = await on.ask(rounds, who=OWNER)
            await on.im(f"deny {nonces[OWNER]}")
        sent = len(on.ims())
        assert sent <= IMS_MAX
        assert await on.ask(999, who=OWNER) == {}
        assert any(body.code == "approver_not_told" for body in on.bodies(Diagnostic))
        assert on.bodies(ApprovalOpened)[-1].summary.count("999") == 1
        await trio.sleep(IMS_WINDOW_S)
        assert set(await on.ask(1000, who=OWNER)) == {OWNER}


async def test_a_policy_that_lets_no_im_out_asks_nobody(autojump_clock):
    """The question is decided on like anything else; the approval waits for the console. Spec: POL-1, POL-7."""
    async with room(matrix={**SECTION["matrix"], "operator_console": {"direct_message": "deny"}}) as on:
        assert await on.ask(5) == {}
        assert len(on.robin.status().gateway.approvals) == 1


async def test_a_dry_run_asks_nobody(autojump_clock):
    """Nothing leaves a dry run, and nothing of it is remembered as sent. Spec: POL-11."""
    async with room(dry_run=True) as on:
        assert await on.ask(5) == {}
        assert on.robin._session.core.approvers._underway == {}
