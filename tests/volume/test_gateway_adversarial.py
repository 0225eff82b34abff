"""A million adversarial requests by fifty requesters at once, judged action by action.

The policy is permissive, so that tens of thousands of actions pass and every guard is needed. The judge
below shares no code with the gateway: it reads the policy as plain JSON, keeps every charge in a list, and
knows nothing but what was asked, what was answered and what time it truly was.

About 35 s on one core.
"""

from __future__ import annotations

import heapq
import json
import math
import random
from collections import Counter, deque
from itertools import count

import msgspec
import pytest

from gridagent.actions import (
    Confirmed,
    EvidenceKind,
    GiveItem,
    InDoubt,
    PayAvatar,
    Position,
    Refused,
    Resource,
    Say,
    SendIm,
    StopMoving,
    TeleportTo,
    Touch,
    WalkTo,
)
from gridagent.authority import ActionRequest, Origin, Principal, Provenance
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.errors import AuthorityRefused
from gridagent.policy import Authorized, AuthorizedAction, Denied, Gateway, Instant, NeedsApproval, Policy

REQUESTS = 1_000_000
REQUESTERS = 50
TICK = 1 / 1024  # seconds; exact in binary, so that the judge's time has no rounding

POLICY = json.loads("""
{
  "matrix": {
    "public_chat": {"speak": "anyone", "direct_message": "anyone", "move": "anyone", "interact": "anyone",
                    "money": "trusted", "inventory": "anyone"},
    "direct_im":   {"speak": "anyone", "direct_message": "anyone", "move": "anyone", "interact": "anyone",
                    "teleport": "trusted", "money": "anyone", "inventory": "anyone"},
    "goal":        {"speak": "owner", "direct_message": "owner", "move": "owner", "money": "owner",
                    "teleport": "owner"},
    "ag_ui":       {"speak": "trusted", "direct_message": "trusted", "money": "trusted", "move": "trusted"},
    "mcp":         {"speak": "deny"}
  },
  "tainted":     {"money": "deny", "teleport": "approve", "inventory": "allow", "speak": "allow"},
  "target_from": {"money": ["configuration", "authorised_words"], "teleport": ["authorised_words"],
                  "inventory": ["configuration", "authorised_words", "model"]},
  "approvals":   {"money": "not_required", "inventory": "required"},
  "patterns": {
    "too-much":  {"action": "pay_avatar", "argument": "amount", "over": 400, "then": "deny"},
    "secret":    {"action": "say", "argument": "text", "contains": ["Sesame"], "then": "deny"},
    "elsewhere": {"action": "teleport_to", "argument": "region", "none_of": ["Plaza", "Harbour"], "then": "deny"}
  },
  "budgets": {
    "calls.speak": [{"per": "principal", "limit": 40, "window_s": 10},
                    {"per": "strangers", "limit": 300, "window_s": 10},
                    {"per": "global", "limit": 400, "window_s": 10}],
    "speech_bytes": [{"per": "global", "limit": 12000, "window_s": 5},
                     {"per": "principal", "limit": 1500, "window_s": 30}],
    "calls.direct_message": [{"per": "global", "limit": 300, "window_s": 10}],
    "ims": [{"per": "peer", "limit": 12, "window_s": 20}, {"per": "principal", "limit": 60, "window_s": 60}],
    "calls.move": [{"per": "strangers", "limit": 150, "window_s": 10}, {"per": "global", "limit": 200, "window_s": 10}],
    "metres": [{"per": "principal", "limit": 900, "window_s": 60}, {"per": "global", "limit": 6000, "window_s": 20}],
    "withdrawals": [{"per": "principal", "limit": 30, "window_s": 10}, {"per": "global", "limit": 100, "window_s": 10}],
    "calls.interact": [{"per": "principal", "limit": 4, "window_s": 90}],
    "calls.teleport": [{"per": "global", "limit": 20, "window_s": 10}],
    "teleports": [{"per": "global", "limit": 20, "window_s": 10}],
    "calls.money": [{"per": "global", "limit": 60, "window_s": 10}],
    "linden": [{"per": "principal", "limit": 900, "window_s": 30}, {"per": "peer", "limit": 700, "window_s": 15},
               {"per": "global", "limit": 3000, "window_s": 30}],
    "calls.inventory": [{"per": "global", "limit": 60, "window_s": 10}],
    "items": [{"per": "global", "limit": 45, "window_s": 60}]
  },
  "handle_ttl_s": 2.0,
  "approval_ttl_s": 20.0
}
""")
OWNER = "00000000-0000-4000-8000-00000000000a"
TRUSTED = "00000000-0000-4000-8000-00000000000b"
ROLES = {"owners": [OWNER], "trusted": [TRUSTED]}
NAGGER = "00000000-0000-4000-8000-0000000000ff"

KINDS = {Say, SendIm, WalkTo, StopMoving, Touch, TeleportTo, PayAvatar, GiveItem}
RANK = {"object": 0, "stranger": 1, "trusted": 2, "front": 2, "owner": 3, "operator": 4}
CELL = {"anyone": 1, "trusted": 2, "owner": 3, "deny": 9}


class Shape:
    """What the judge makes of one action's plain data."""

    def __init__(self, action) -> None:
        plain = plain_of(action)
        self.plain = json.dumps(plain, sort_keys=True, default=repr)
        self.valid = False
        self.capability = ""
        self.charges: list[tuple[str, int]] = []
        self.peer = None
        self.needs_source = False
        self.denied_by_pattern = False
        self.harmless = False
        if type(action) in KINDS:
            getattr(self, f"_{plain['action']}")(plain)

    @staticmethod
    def _uuid(text) -> bool:
        return (
            isinstance(text, str)
            and len(text) == 36
            and set(text) <= set("0123456789abcdef-")
            and len(text.split("-")) == 5
        )

    def _say(self, plain) -> None:
        text = plain["text"]
        self.capability = "speak"
        self.valid = isinstance(text, str) and 1 <= len(text.encode()) <= 1023
        self.charges = [("calls.speak", 1), ("speech_bytes", len(text.encode()))]
        self.denied_by_pattern = "sesame" in text.lower()

    def _send_im(self, plain) -> None:
        self.capability, self.peer = "direct_message", plain["to"]
        self.valid = self._uuid(plain["to"])
        self.charges = [("calls.direct_message", 1), ("ims", 1), ("speech_bytes", len(plain["text"].encode()))]

    def _walk_to(self, plain) -> None:
        x = plain["position"]["x"]
        self.capability = "move"
        self.valid = type(x) in {int, float} and -8192 <= x <= 16384
        self.charges = [("calls.move", 1), ("metres", 0)]

    def _stop_moving(self, _) -> None:
        self.capability, self.valid, self.harmless = "move", True, True
        self.charges = [("withdrawals", 1)]

    def _touch(self, plain) -> None:
        self.capability = "interact"
        self.valid = self._uuid(plain["object_id"])
        self.charges = [("calls.interact", 1)]

    def _teleport_to(self, plain) -> None:
        self.capability, self.needs_source, self.valid = "teleport", True, True
        self.charges = [("calls.teleport", 1), ("teleports", 1)]
        self.denied_by_pattern = plain["region"] not in {"Plaza", "Harbour"}

    def _pay_avatar(self, plain) -> None:
        amount = plain["amount"]
        self.capability, self.needs_source, self.peer = "money", True, plain["to"]
        self.valid = type(amount) is int and 1 <= amount <= 1_000_000 and self._uuid(plain["to"])
        if self.valid:
            self.charges = [("calls.money", 1), ("linden", amount)]
            self.denied_by_pattern = amount > 400

    def _give_item(self, plain) -> None:
        self.capability, self.needs_source, self.peer, self.valid = "inventory", True, plain["to"], True
        self.charges = [("calls.inventory", 1), ("items", 1)]


class Judge:
    """Judges each authorisation and each redemption by the JSON policy and true time alone."""

    def __init__(self) -> None:
        self.windows: dict = {}
        self.effects: set = set()
        self.live: int | None = None
        self.held = False
        self.allowed: set[str] = set()

    @staticmethod
    def role(who, client, origin) -> str:
        if origin == "object_text":
            return "object"
        if origin in {"ag_ui", "a2a", "mcp"}:
            return "front" if who is None and client != "operator" else "object"
        if who is None:
            return {"operator_console": "operator", "goal": "operator" if client == "operator" else "front"}.get(
                origin, "object"
            )
        return "owner" if who in ROLES["owners"] else "trusted" if who in ROLES["trusted"] else "stranger"

    def authorised(self, at, asked, approval_id=None) -> None:
        """Hold one authorisation against the policy; every breach fails the test."""
        shape, origin = asked.shape, asked.origin
        role = self.role(asked.who, asked.client, origin)
        assert shape.valid, shape.plain
        assert not self.held
        assert self.live is not None
        assert approval_id is not None or asked.generation == self.live
        cell = POLICY["matrix"].get(origin, {}).get(shape.capability, "deny")
        assert RANK[role] >= CELL[cell] > 0, (role, origin, shape.capability)
        assert origin != "object_text"
        must_ask = POLICY["approvals"].get(shape.capability) == "required"
        if asked.tainted and not shape.harmless:
            verdict = POLICY["tainted"].get(shape.capability, "allow")
            assert verdict != "deny", shape.plain
            must_ask |= verdict == "approve"
        if shape.needs_source and shape.capability in POLICY["target_from"]:
            assert asked.provenance in POLICY["target_from"][shape.capability]
        assert not shape.denied_by_pattern
        if must_ask:
            assert approval_id in self.allowed, "nobody allowed this"
            self.allowed.remove(approval_id)
        else:
            assert approval_id is None
        effect = (shape.plain, asked.who, asked.client, asked.cause, asked.ordinal)
        assert effect not in self.effects, "one effect twice"
        self.effects.add(effect)
        for meter, drawn in shape.charges:
            amount = drawn if meter != "metres" else 256 if asked.travel is None else max(1, math.ceil(asked.travel))
            lines = POLICY["budgets"].get(meter, [])
            assert lines, f"{meter} is zero"
            for index, line in enumerate(lines):
                self._charge(at, meter, index, line, amount, asked, role)

    def _charge(self, at, meter, index, line, amount, asked, role) -> None:
        per = line["per"]
        if per == "strangers" and RANK[role] >= 2:
            return
        key = {"principal": (asked.who, asked.client), "peer": asked.shape.peer}.get(per, "")
        if per == "peer" and key is None:
            return
        window = self.windows.setdefault((meter, index, key), [deque(), 0])
        made, total = window
        since = at - line["window_s"] / TICK
        while made and made[0][0] <= since:
            total -= made.popleft()[1]
        made.append((at, amount))
        total += amount
        window[1] = total
        assert total <= line["limit"], f"{meter} per {per}: {total} over {line['limit']} in {line['window_s']} s"


class Asked:
    """One request, as the judge remembers it; nobody can change it afterwards."""

    __slots__ = (
        "cause",
        "client",
        "generation",
        "ordinal",
        "origin",
        "provenance",
        "shape",
        "tainted",
        "travel",
        "who",
    )

    def __init__(self, shape, who, client, origin, generation, cause, ordinal, tainted, provenance, travel) -> None:
        self.shape = shape
        self.who = who
        self.client = client
        self.origin = origin
        self.generation = generation
        self.cause = cause
        self.ordinal = ordinal
        self.tainted = tainted
        self.provenance = provenance
        self.travel = travel


def force(struct, /, **fields):
    """Change a frozen struct, as code that ignores the rules could."""
    for name, value in fields.items():
        msgspec.structs.force_setattr(struct, name, value)
    return struct


class PaySubclass(PayAvatar, frozen=True, kw_only=True):
    """An action that isn't in the catalogue."""


def uuid(number) -> str:
    """Make an avatar's UUID."""
    return f"00000000-0000-4000-8000-{number:012x}"


def plain_of(action):
    """Write an action down as plain data, as the judge sees it."""
    try:
        return msgspec.to_builtins(action)
    except (TypeError, ValueError, OverflowError):
        return repr(action)


def makers(rng):
    """Make the pools of actions: honest ones, and ones that no gateway may let through."""
    people = [uuid(0x1000 + number) for number in range(40)]
    honest = [Say(text="x" * rng.randint(1, 120)) for _ in range(60)]
    honest += [SendIm(to=rng.choice(people), text="y" * rng.randint(1, 60)) for _ in range(60)]
    honest += [WalkTo(position=Position(x=float(rng.randint(0, 255)), y=1.0)) for _ in range(40)]
    honest += [PayAvatar(to=rng.choice(people), amount=rng.randint(1, 500)) for _ in range(90)]
    honest += [GiveItem(item_id=uuid(7), to=person) for person in people[:10]]
    honest += [Touch(object_id=uuid(9)) for _ in range(20)]
    honest += [
        TeleportTo(region=rng.choice(["Plaza", "Harbour", "Abyss"]), position=Position(x=1.0, y=1.0)) for _ in range(30)
    ]
    honest += [StopMoving()] * 8
    pay = lambda **fields: force(PayAvatar(to=people[0], amount=1), **fields)  # noqa: E731
    bad_amounts = (True, 1.0, 1e2, "5", -1, 0, 2**63, 10**30, math.nan, None, math.inf)
    bad = [pay(amount=amount) for amount in bad_amounts]
    bad += [pay(to=f"{people[0]}\n"), pay(to=people[0].upper().replace("1", "A")), pay(to="owner"), pay(to=None)]
    bad += [force(Say(text="x"), text="z" * 2_000), force(Say(text="x"), text=""), Say(text="open SESAME now")]
    bad += [force(WalkTo(position=Position(x=1.0, y=1.0)), position=Position(x=math.nan, y=1.0))]
    bad += [PaySubclass(to=people[0], amount=5), "pay_avatar", None, {"action": "pay_avatar", "amount": 5}]
    return [(action, Shape(action)) for action in honest], [(action, Shape(action)) for action in bad]


class World:
    """Everybody at once: the gateway, fifty requesters, and what happens around them."""

    def __init__(self, seed) -> None:
        self.rng = random.Random(seed)
        self.outcomes: Counter[str] = Counter()
        self.judge = Judge()
        self.policy = Policy(msgspec.convert(POLICY, PolicySection), msgspec.convert(ROLES, RolesSection))
        tokens = count()
        self.rows = 0
        self.gateway = Gateway(self.policy, tokens=lambda: f"t{next(tokens)}", audit=self._audit)
        self.ticks, self.wall_ticks = 0, 0
        self.now = Instant(1.7e9, 0.0)
        self.generation = 0
        self.honest, self.bad = makers(self.rng)
        self.strangers = [Principal(avatar_id=uuid(0x100000 + number)) for number in range(6_000)]
        self.known = [Principal(avatar_id=OWNER), Principal(avatar_id=TRUSTED), *self.strangers[:30]]
        self.fronts = [Principal(client=name) for name in ("desk", "phone", "operator")]
        self.asked = 0
        self.recent: deque = deque(maxlen=64)
        self.handles: deque = deque(maxlen=64)
        self.redeemed: set[int] = set()
        self.keep: list = []
        self.lost: list = []
        self.approvals: deque = deque(maxlen=400)
        self.connect()

    def _audit(self, _) -> None:
        self.rows += 1

    def at(self, ticks) -> None:
        self.ticks += ticks
        self.wall_ticks += ticks
        self.now = Instant(1.7e9 + self.wall_ticks * TICK, self.ticks * TICK)

    def connect(self) -> None:
        self.generation += 1
        self.gateway.open_generation(self.generation)
        self.judge.live = self.generation

    # --- one request --------------------------------------------------------------------------------

    def compose(self):
        """Write one request, honest or not."""
        rng, draw = self.rng, self.rng.random()
        if draw < 0.05 and self.recent:
            return rng.choice(self.recent)  # the very same again
        action, shape = rng.choice(self.honest if draw < 0.9 else self.bad)
        kind = rng.random()
        if kind < 0.70:
            principal = rng.choice(self.known)
            origin = Origin.DIRECT_IM if kind < 0.4 else Origin.PUBLIC_CHAT
        elif kind < 0.88:
            principal, origin = rng.choice(self.strangers), Origin.PUBLIC_CHAT
        elif kind < 0.93:
            principal, origin = rng.choice(self.fronts), rng.choice((Origin.AG_UI, Origin.MCP, Origin.GOAL))
        elif kind < 0.96:
            principal, origin = rng.choice(self.known), rng.choice((Origin.OBJECT_TEXT, Origin.GOAL, Origin.A2A))
        else:
            principal, origin = rng.choice(self.fronts), Origin.PUBLIC_CHAT
        if isinstance(action, GiveItem) and rng.random() < 0.6:
            principal, origin = Principal(avatar_id=NAGGER), Origin.DIRECT_IM
        number = rng.random()
        generation = self.generation if number < 0.96 else self.generation + rng.choice((-1, 1))
        tainted = rng.random() < 0.15
        provenance = rng.choice((Provenance.AUTHORISED_WORDS, Provenance.AUTHORISED_WORDS, Provenance.MODEL))
        travel = rng.choice((None, 3.0, 20.5)) if isinstance(action, WalkTo) else None
        cause = f"c{self.asked}"
        asked = Asked(
            shape,
            principal.avatar_id,
            principal.client,
            origin.value,
            generation,
            cause,
            0,
            tainted,
            provenance.value,
            travel,
        )
        request = ActionRequest(
            action=action, principal=principal, origin=origin, generation=generation, correlation=cause, cause=cause,
            tainted=tainted, target_provenance=provenance, travel_m=travel,
        )  # fmt: skip
        return request, asked

    def decide(self, request, asked):
        """Put one request to the gateway and have the answer judged."""
        self.asked += 1
        decision = self.gateway.decide(
            request, self.now, busy=frozenset({Resource.BODY}) if self.asked % 97 == 0 else frozenset()
        )
        kind = type(decision)
        if kind is Authorized:
            self.judge.authorised(self.ticks, asked)
            self.outcomes["authorized"] += 1
        elif kind is Denied:
            self.outcomes[f"denied {decision.code.value}"] += 1
        else:
            assert kind is NeedsApproval
            self.outcomes["needs_approval"] += 1
        return decision

    def redeem(self, handle, expected, generation):
        """Use a handle; what comes out must be what was asked, once, in time, for the live connection."""
        try:
            record = self.gateway.redeem(handle, generation=generation, now=self.now)
        except AuthorityRefused as refused:
            self.outcomes[f"redeem {refused.reason}"] += 1
            return None
        self.outcomes["redeemed"] += 1
        plain, minted_for, minted_at = expected
        assert id(handle) not in self.redeemed, "a handle was used twice"
        self.redeemed.add(id(handle))
        self.keep.append(handle)  # so that no later handle gets its address
        assert generation == minted_for == self.judge.live
        assert not self.judge.held
        assert (self.ticks - minted_at) * TICK < POLICY["handle_ttl_s"]
        assert json.dumps(msgspec.to_builtins(record.action), sort_keys=True) == plain
        return record

    def requester(self):
        """Ask, use, misuse and settle, for ever; each ``yield`` lets others come between, for so many ticks."""
        rng = self.rng
        while True:
            request, asked = self.compose()
            if rng.random() < 0.2:
                yield
            decision = self.decide(request, asked)
            if type(decision) is Denied:
                if decision.code.value == "ledger_full":
                    self.abandon_lost()
                yield
                continue
            self.recent.append((msgspec.structs.replace(request), asked))
            if type(decision) is NeedsApproval:
                self.approvals.append((decision.approval_id, asked))
                yield rng.choice((20, 3_000, 24_000))
                if rng.random() < 0.5:  # asked again over today's connection, whatever became of it
                    request = msgspec.structs.replace(request, generation=self.generation)
                again = self.decide(request, asked)
                assert type(again) is not Authorized
                yield
                continue
            yield from self.use(request, asked, decision)

    def use(self, request, asked, decision):  # noqa: C901 - one branch a kind of mischief
        """Do with an authorisation what its holder shouldn't, and sometimes what it should."""
        rng, handle = self.rng, decision.handle
        expected = (asked.shape.plain, self.judge.live, self.ticks)
        self.handles.append((handle, expected))
        mischief = rng.random()
        yield
        if mischief < 0.05:
            force(decision.action, **dict.fromkeys(decision.action.__struct_fields__))
        elif mischief < 0.10:
            force(request, action=PayAvatar(to=OWNER, amount=1_000_000), generation=10**6)
        elif mischief < 0.14:
            for forged in (object.__new__(AuthorizedAction), object(), None, decision):
                assert self.redeem(forged, expected, self.generation) is None
        elif mischief < 0.18:
            assert self.redeem(handle, expected, self.generation + 1) is None
        elif mischief < 0.22 and self.handles:
            self.redeem(*self.rng.choice(self.handles), self.generation)  # somebody else's, or one's own too early
        elif mischief < 0.24:
            return  # never used
        elif mischief < 0.26:
            self.settle(decision.effect)  # ended before it was sent
        elif mischief < 0.30:
            yield rng.choice((2_000, 5_000))  # used late
        record = self.redeem(handle, expected, self.generation)
        if rng.random() < 0.1:
            assert self.redeem(handle, expected, self.generation) is None
        yield
        if record is None and rng.random() < 0.5:
            return
        self.settle(decision.effect)

    def settle(self, effect) -> None:
        """Say how it ended: truly, twice, or not at all."""
        draw = self.rng.random()
        if draw < 0.08:
            self.lost.append(effect)
            return
        if draw < 0.16:
            outcome = self.gateway.abandon(effect, "gone", self.now)
            self.outcomes[f"abandoned {type(outcome).__name__}"] += 1
            return
        outcome = (
            Confirmed(evidence=EvidenceKind.DELIVERED)
            if draw < 0.8
            else Refused(reason="no")
            if draw < 0.9
            else InDoubt(reason="late")
        )
        counted = self.gateway.settle(effect, outcome, self.now)
        self.outcomes[f"settled {type(outcome).__name__}" if counted else "settlement without effect"] += 1

    def abandon_lost(self) -> None:
        """The session gives up on whatever never ended."""
        for effect in self.lost:
            self.gateway.abandon(effect, "deadline", self.now)
        self.lost.clear()

    # --- what happens around them -------------------------------------------------------------------

    def answer(self) -> None:
        """Somebody answers an approval, entitled or not, perhaps again."""
        if not self.approvals:
            return
        rng = self.rng
        approval_id, asked = rng.choice(self.approvals)
        who = rng.choice((None, None, OWNER, TRUSTED, NAGGER))
        right = rng.random() < 0.6
        allow = rng.random() < 0.7
        nonce = self.gateway.nonce_of(approval_id) if right else "guess"
        answer = self.gateway.answer(
            approval_id,
            allow=allow,
            by=Principal(avatar_id=who, client="" if who else "operator"),
            via=Origin.DIRECT_IM if who else Origin.OPERATOR_CONSOLE,
            nonce=nonce,
            now=self.now,
        )
        self.outcomes[f"answer {answer.code}"] += 1
        if type(answer.decision) is Authorized:
            assert allow
            assert who is None or (who == OWNER and right)
            self.judge.allowed.add(approval_id)
            self.judge.authorised(self.ticks, asked, approval_id)
            expected = (asked.shape.plain, self.judge.live, self.ticks)
            if self.redeem(answer.decision.handle, expected, self.generation) is not None:
                self.settle(answer.decision.effect)

    def happen(self) -> None:  # noqa: C901, PLR0912 - one branch a kind of event
        """Time passes; clocks jump, connections break, the kill switch is thrown, turns are cancelled."""
        rng, draw = self.rng, self.rng.random()
        self.at(rng.choice((0, 1, 2, 3, 6, 60)))
        if draw < 0.08:
            self.answer()
        elif draw < 0.36:
            for ended in self.gateway.expire(self.now):
                self.outcomes[f"ended {'approval' if ended.approval_id else 'handle'} {ended.how}"] += 1
        elif draw < 0.37:
            self.wall_ticks += rng.choice((-88_473_600, 88_473_600, -3_686_400, 3_686_400))
        elif draw < 0.375:
            if self.judge.live is None:
                self.connect()
            else:
                ended = self.gateway.close_generation(self.generation, self.now)
                self.outcomes["ended handle stale_generation"] += len(ended)
                self.judge.live = None
        elif draw < 0.38 and self.judge.live is None:
            self.connect()
        elif draw < 0.385:
            if self.judge.held:
                self.gateway.release(self.now)
            else:
                self.outcomes["ended handle held"] += len(self.gateway.hold(self.now))
            self.judge.held = not self.judge.held
        elif draw < 0.39 and self.recent:
            for ended in self.gateway.cancel_cause(rng.choice(self.recent)[1].cause, self.now):
                self.outcomes[f"ended {'approval' if ended.approval_id else 'handle'} {ended.how}"] += 1
        if self.judge.held and rng.random() < 0.2:
            self.gateway.release(self.now)
            self.judge.held = False
        if self.judge.live is None and rng.random() < 0.2:
            self.connect()

    def run(self, requests) -> None:
        """Let fifty requesters go on, one step at a time, in an order drawn from the seed."""
        awake = [self.requester() for _ in range(REQUESTERS)]
        asleep: list = []
        draw, steps = self.rng.random, 0
        while self.asked < requests:
            steps += 1
            if steps % 12 == 0 or not awake:
                self.happen()
            while asleep and asleep[0][0] <= self.ticks:
                awake.append(heapq.heappop(asleep)[2])
            if awake:
                chosen = int(draw() * len(awake))
                sleep = next(awake[chosen])
                if sleep:
                    heapq.heappush(asleep, (self.ticks + sleep, steps, awake.pop(chosen)))


EXPECTED = """
authorized needs_approval redeemed
denied unknown_action|denied invalid_arguments|denied held|denied not_ready|denied stale_generation
denied origin_may_not|denied role_too_low|denied tainted|denied target_not_authorised|denied pattern_denied
denied duplicate|denied ledger_full|denied resource_busy|denied budget_spent|denied budget_unavailable
denied approvals_full|denied approval_denied|denied approval_expired|denied approval_cancelled
redeem forged|redeem unknown|redeem replayed|redeem expired|redeem stale_generation|redeem held
redeem cancelled|redeem settled
settled Confirmed|settled Refused|settled InDoubt|settlement without effect
abandoned Refused|abandoned InDoubt|abandoned NoneType
answer allowed|answer denied|answer refused|answer not_now|answer wrong_person|answer wrong_nonce
answer already_answered|answer expired|answer cancelled
ended approval expired|ended approval cancelled|ended handle expired|ended handle cancelled
ended handle stale_generation|ended handle held
"""


@pytest.mark.volume
@pytest.mark.timeout(600)
def test_a_million_adversarial_requests(record_testsuite_property) -> None:
    """Nothing outside policy, no overrun in any window, no handle twice; every outcome occurs. Spec: POL-2, POL-6."""
    world = World("gateway-1")
    world.run(REQUESTS)
    for outcome, seen in sorted(world.outcomes.items()):
        record_testsuite_property(f"gateway: {outcome}", seen)
    first, *others = EXPECTED.strip().splitlines()
    expected = [*first.split(), *(name for line in others for name in line.split("|"))]
    missing = [outcome for outcome in expected if not world.outcomes[outcome]]
    assert not missing, world.outcomes
    assert world.asked >= REQUESTS
    assert world.outcomes["redeemed"] >= 20_000
    assert world.rows > world.asked
