"""Claims about asking authorised avatars for a yes over IM."""

from contextlib import asynccontextmanager

import msgspec
import pytest
import trio

from gridagent.actions import PayAvatar, Refused, SendIm
from gridagent.authority import Origin, Principal, Provenance
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.controls import ForceReconnect, Hold, Release, StopTurn
from gridagent.events import ChatHeard, ImReceived, Speaker, SpeakerKind
from gridagent.grid.puppet import Puppet
from gridagent.mind import Proposal, QuietMind
from gridagent.observations import AgentState, ApprovalClosed, ApprovalOpened, Diagnostic, EventSeen, LinkState
from gridagent.policy import NeedsApproval, Policy
from gridagent.runtime.deterministic import simulated_ports
from gridagent.service import AvatarSpec, open_service
from gridagent.session import OnBackendFailure, SessionSettings
from gridagent.session.approvers import _UNTOLD_MAX, ASK_AGAIN_S, IMS_MAX, IMS_WINDOW_S, MASK, _Question
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
        self.deaf = False

    def hear(self, event, around, now):
        self.heard.append(event)
        if not isinstance(event, ChatHeard) or self.deaf:
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
        assert on.mind.heard[-1].text == f"please allow {MASK}"


@pytest.mark.parametrize("quote", ["{}", "did you mean {}?", "({})", "{} {}"])
@pytest.mark.parametrize(
    "way", [str, str.lower, lambda nonce: nonce.replace("-", " "), lambda nonce: nonce.replace("-", "–")]
)
async def test_a_nonce_that_somebody_quotes_is_masked(autojump_clock, quote, way):
    """In an IM and in chat, however it is written: for observers, and for the mind. Spec: POL-7."""
    async with room() as on:
        nonces = await on.ask(5)
        quoted = quote.format(*[way(nonces[OWNER])] * 2)
        await on.im(quoted)
        heard = on.mind.heard[-1].text
        assert heard == quote.format(MASK, MASK)
        source = Speaker(kind=SpeakerKind.AVATAR, id=STRANGER)
        on.mind.deaf = True
        await on.push(ChatHeard(utterance_id="c1", source=source, text=quoted))
        texts = [each.event.text for each in on.bodies(EventSeen) if hasattr(each.event, "text")]
        assert texts[-2:] == [heard, heard]
        await on.im("my phone is 0123-4567-89AB, and these have been there")
        assert on.mind.heard[-1].text == "my phone is 0123-4567-89AB, and these have been there"
        await on.im(f"allow {nonces[OWNER]}")
        assert on.paid() == [5]
        await on.im(f"it was {nonces[OWNER]}")
        assert on.mind.heard[-1].text == f"it was {nonces[OWNER]}", "it counts for nothing any more"


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


# --- asked later -------------------------------------------------------------------------------------


def questions(on):
    """The IMs that ask, by receiver."""
    return [im.to for im in on.ims() if im.text.startswith("I was asked")]


async def test_what_no_im_could_ask_about_is_asked_about_once_when_one_can(autojump_clock):
    """Lost with its connection: asked on the next, once, and the answer counts. Spec: POL-7."""
    async with room(approval_ttl_s=3600.0) as on:
        works = on.puppet.applier

        async def lost(action):
            if isinstance(action, SendIm):
                return Refused(reason="not_connected")
            return await works(action)

        on.puppet.applier = lost
        await on.ask(5)
        assert questions(on) == [OWNER]
        on.puppet.applier = works
        for _ in range(3):
            await on.robin.control(ForceReconnect())
            await on.robin.wait_link(LinkState.ONLINE)
            await trio.sleep(200)
            if on.puppet.now.applied:
                asked = on.ims()
        assert len(asked) == 1
        nonce = asked[0].text.split("\n")[1].removeprefix("allow ")
        await on.im(f"allow {nonce}")
        assert on.paid() == [5]


async def test_it_is_tried_again_by_itself_until_it_is_over(autojump_clock):
    """The connection stays and IM comes back; nothing is tried for what is over. Spec: POL-7."""
    async with room(approval_ttl_s=130.0) as on:
        works = on.puppet.applier
        tries = []

        async def broken(action):
            tries.append(action)
            return Refused(reason="not_now") if isinstance(action, SendIm) else await works(action)

        on.puppet.applier = broken
        await on.ask(5)
        await trio.sleep(1_000)
        assert len(tries) == 3
        assert on.robin._session.core.approvers.due is None
        await on.ask(7)
        await trio.sleep(ASK_AGAIN_S / 2)
        on.puppet.applier = works
        before = len(on.ims())
        await trio.sleep(10 * ASK_AGAIN_S)
        assert len(on.ims()) == before + 1


async def test_what_opens_while_held_is_asked_about_on_release(autojump_clock):
    """The kill switch stops questions too; letting go asks them, once. Spec: POL-7, POL-12."""
    async with room(approval_ttl_s=3600.0) as on:
        core = on.robin._session.core
        await on.ask(5)
        (waiting,) = core.gateway.status().approvals
        question = next(iter(core.approvers._asked))
        assert question == waiting.approval_id
        core.approvers._asked.clear()
        await on.robin.control(Hold())
        before = len(on.ims())
        request = core.gateway._desk._book.find(waiting.approval_id).request
        waits = NeedsApproval(
            approval_id=waiting.approval_id, rule="r", summary=waiting.summary, expires_at=core.now.monotonic + 3_000
        )
        core.approvers.ask(waits, request)
        assert core.approvers.due is not None
        await on.robin.control(StopTurn())
        await trio.sleep(5 * ASK_AGAIN_S)
        assert len(on.ims()) == before
        await on.robin.control(Release())
        await trio.sleep(5 * ASK_AGAIN_S)
        assert len(on.ims()) == before + 1
        assert core.approvers.due is None


async def test_what_waits_to_be_asked_is_bounded(autojump_clock):
    """And whoever has heard of it is not asked again because somebody else has not. Spec: BND-12, POL-7."""
    async with room(approval_ttl_s=3600.0) as on:
        works = on.puppet.applier

        async def half(action):
            return Refused(reason="gone") if getattr(action, "to", "") == FRIEND else await works(action)

        on.puppet.applier = half
        await on.ask(5, who=OWNER)
        assert sorted(questions(on)) == [OWNER, FRIEND]
        await trio.sleep(10 * ASK_AGAIN_S)
        assert len(questions(on)) == 2
        talk = on.robin._session.core.approvers
        for number in range(_UNTOLD_MAX + 3):
            talk._keep(_question(number))
        assert len(talk._untold) == _UNTOLD_MAX
        assert f"a{_UNTOLD_MAX}" not in talk._untold
        before = len(on.ims())
        question = _question(0)
        talk._asked.append("a0")
        talk.ask(question.waits, question.request)
        talk.ask_again()
        assert len(on.ims()) == before, "asked already, and of the others nobody knows any more"
        assert talk._untold == {}


def _question(number):
    return _Question(waits=NeedsApproval(approval_id=f"a{number}", rule="r", summary="s", expires_at=1e9), request=None)
