"""A bench for the thinker: real presence, conversations, tools and policy; world and model in the test's hand."""
# ruff: noqa: E501 - a matrix is read by row

from __future__ import annotations

from random import Random

import msgspec
import pytest

from gridagent.actions import Confirmed, Position
from gridagent.authority import Origin
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.config.presence import PresenceSection
from gridagent.conversation.store import ConversationStore
from gridagent.events import AvatarView, ChatHeard, GridProfile, ImReceived, ObjectView, Speaker, SpeakerKind
from gridagent.language import LlmReply
from gridagent.mind import Attention, Errand, GiveUp, Moment, Proposal, Ruling
from gridagent.observations import ReplyComposed, TurnEnded, TurnStarted
from gridagent.policy import Policy
from gridagent.presence.chain import PresenceChain
from gridagent.presence.persona import Persona
from gridagent.presence.protected import Protected
from gridagent.presence.reflex import ReflexMind
from gridagent.thinking import Thinker, ThinkerSettings
from gridagent.thinking.mouth import Mouth
from gridagent.thinking.words import Think
from gridagent.tools.registry import Registry

ME = "00000000-0000-4000-8000-0000000000ee"
OWNER = "00000000-0000-4000-8000-0000000000aa"
ANN = "00000000-0000-4000-8000-0000000000b1"
BEN = "00000000-0000-4000-8000-0000000000b2"
CHAIR = "00000000-0000-4000-8000-0000000000c1"
NAMES = {OWNER: "Olive Owner", ANN: "Ann Visitor", BEN: "Ben Visitor"}
ALL = ("observe", "speak", "direct_message", "move", "interact", "money", "social", "animate", "teleport", "inventory")
PERSONA = Persona(
    style="You are Robin.", name="Robin", fallback_lines=("Pardon?",), tired_line="So tired.", disclosure="I am a bot.",
    digest="d1",
)  # fmt: skip


class Place:
    """Where the avatar is; implements `gridagent.mind.Surroundings`."""

    self_id = ME
    name = "Robin Resident"
    generation = 1
    region = "Plaza"
    position = Position(x=10.0, y=10.0, z=20.0)
    posture = None
    balance = 100
    held = False

    def __init__(self, **section):
        self.profile = GridProfile(grid="Testgrid")
        matrix = {
            Origin.PUBLIC_CHAT.value: {"observe": "anyone", "speak": "anyone", "animate": "anyone", **dict.fromkeys(ALL[3:], "owner")},
            Origin.DIRECT_IM.value: {"observe": "anyone", "direct_message": "anyone", **dict.fromkeys(("speak", *ALL[3:]), "owner")},
        }  # fmt: skip
        raw = {"preset": "observer", "matrix": matrix, **section}
        self.policy = Policy(msgspec.convert(raw, PolicySection), RolesSection(owners=(OWNER,)))
        self.people = dict(NAMES)

    def avatars(self):
        return [
            AvatarView(avatar_id=uuid, name=name, position=Position(x=12.0, y=10.0, z=20.0), distance_m=2.0)
            for uuid, name in self.people.items()
        ]

    def objects(self):
        return [
            ObjectView(object_id=CHAIR, name="Chair", owner_id=OWNER, position=Position(x=11.0, y=9.0), sittable=True)
        ]


class Bench:
    """One thinker, and everything it thought, in order."""

    def __init__(self, *, settings=None, section=None, persona=PERSONA, place=None, purse=None, ports=frozenset()):
        self.around = place or Place()
        self.time = 100.0
        self.kept = []
        section = PresenceSection(
            **{
                "speech_pause_max_s": 0.0,
                "messages_per_minute": 600,
                "turns_per_person": 1000,
                "answers_per_minute": 600,
                "repeats_max": 20,
                **(section or {}),
            }
        )
        self.conversations = ConversationStore("robin")
        self.purse = purse
        self.mind = Thinker(
            avatar="robin",
            settings=settings or ThinkerSettings(),
            persona=persona,
            chain=PresenceChain(section, ("Robin",), Protected((OWNER,), section), Random(1)),
            mouth=Mouth(section),
            reflex=ReflexMind(("Robin",), frozenset({OWNER})),
            conversations=self.conversations,
            registry=Registry(),
            purse=purse,
            keep=self.kept.append,
            ports=ports,
        )
        self.thoughts = []
        self._said = 0

    @property
    def now(self):
        return Moment(1e9 + self.time, self.time)

    def take(self, thoughts):
        """Carry nothing out; only note."""
        thoughts = tuple(thoughts)
        self.thoughts += thoughts
        return thoughts

    # --- the world -----------------------------------------------------------------------------

    def say(self, text, who=ANN, *, utterance=None, im=False, name=None, distance_m=2.0):
        """Let somebody say something."""
        self._said += 1
        utterance = utterance or f"u{self._said}"
        source = Speaker(kind=SpeakerKind.AVATAR, id=who, name=name or NAMES.get(who, "Somebody"))
        if im:
            event = ImReceived(utterance_id=utterance, source=source, text=text)
        else:
            event = ChatHeard(utterance_id=utterance, source=source, text=text, distance_m=distance_m)
        return self.take(self.mind.hear(event, self.around, self.now))

    def pass_time(self, seconds):
        self.time += seconds
        return self.take(self.mind.on_time(self.now))

    # --- the model -----------------------------------------------------------------------------

    def of(self, kind, thoughts=None):
        return [each for each in (self.thoughts if thoughts is None else thoughts) if isinstance(each, kind)]

    @property
    def asked(self):
        """Requests that are out, oldest first."""
        given_up = {each.errand_id for each in self.of(GiveUp)}
        return [
            each for each in self.of(Errand)
            if isinstance(each.what, Think) and each.errand_id not in given_up | self.answered
        ]  # fmt: skip

    @property
    def answered(self):
        return self.__dict__.setdefault("_answered", set())

    def reply(self, reply, errand=None):
        """Answer the oldest request: with words, with calls, with a whole reply, or with a failure."""
        errand = errand or self.asked[0]
        if isinstance(reply, str):
            reply = LlmReply(text=reply)
        elif isinstance(reply, list):
            reply = LlmReply(tool_calls=tuple(reply))
        self.answered.add(errand.errand_id)
        return self.take(self.mind.returned(errand.errand_id, reply, self.now))

    # --- the gateway ---------------------------------------------------------------------------

    def rule(self, proposal, refused=None):
        return self.take(self.mind.decided(proposal, Ruling(refused=refused), self.now))

    def end(self, proposal, outcome=None):
        outcome = outcome or Confirmed(evidence=proposal.action.spec.evidence)
        return self.take(self.mind.learn(proposal, outcome, self.now))

    # --- what came of it -----------------------------------------------------------------------

    @property
    def spoken(self):
        """Texts of speech that was proposed."""
        return [
            each.action.text for each in self.of(Proposal)
            if type(each.action).__name__ in {"Say", "SendIm"} and each.ordinal >= 1024
        ]  # fmt: skip

    @property
    def stops(self):
        return [each.stop for each in self.of(TurnEnded)]

    @property
    def replies(self):
        return [each.text for each in self.of(ReplyComposed)]

    @property
    def started(self):
        return [each.correlation for each in self.of(TurnStarted)]

    @property
    def attention(self):
        return [each.code for each in self.of(Attention)]


@pytest.fixture
def bench():
    """The class."""
    return Bench
