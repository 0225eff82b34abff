"""Two gateways side by side: the real one and the reference, on one history drawn from a seed.

Owns the drawing of histories and the comparison; `test_reference.py` runs a few and the volume test very many.
After every step both have answered the same and written the same audit rows, or the history and its seed are
told. A restart of the real one folds the changes it gave out, so what is compared is also what was kept.
"""

from __future__ import annotations

import functools
import math
import random
from collections import Counter
from itertools import count

import msgspec

from gridagent import actions as verbs
from gridagent.actions import Confirmed, EvidenceKind, InDoubt, Position, Refused, Resource, SettledBy
from gridagent.authority import ActionRequest, Origin, Principal, Provenance
from gridagent.config.policy import PolicySection, RolesSection
from gridagent.errors import AuthorityRefused, InternalError
from gridagent.policy import Authorized, Gateway, Instant, NeedsApproval, Policy
from gridagent.policy.approval_im import ImAnswer, nonce_from
from gridagent.policy.grants import GrantTerms
from gridagent.policy.history import History
from gridagent.policy.reference import ReferenceGateway, Sizes

OWNER, TRUSTED, OTHER, STRANGER, CROWD = (f"00000000-0000-4000-8000-00000000000{each}" for each in "abcde")
THING = "00000000-0000-4000-8000-0000000000f1"
NIL = "00000000-0000-0000-0000-000000000000"
ROLES = RolesSection(owners=(OWNER,), trusted=(TRUSTED, OTHER))
HERE = Position(x=1.0, y=2.0)

AVATARS = [Principal(avatar_id=each) for each in (OWNER, OWNER, TRUSTED, OTHER, STRANGER, CROWD)]
CLIENTS = [Principal(client=each) for each in ("operator", "desk", "phone")]
OPERATOR = CLIENTS[0]
POSERS = [Principal(avatar_id=OWNER, client="operator"), Principal(avatar_id="Owner"), Principal(client="Owner")]
DOORS_OF_AVATARS = [Origin.DIRECT_IM, Origin.DIRECT_IM, Origin.PUBLIC_CHAT, Origin.GOAL, Origin.SCHEDULE]
BUSY = [frozenset(), frozenset(), frozenset(), frozenset({Resource.BODY}), frozenset({Resource.PAYMENT})]

PAYMENTS = [verbs.PayAvatar(to=STRANGER, amount=each) for each in (1, 5, 20, 90)]
GOOD = [
    *PAYMENTS, *PAYMENTS,
    verbs.PayAvatar(to=OWNER, amount=5, description="for the show"), verbs.PayObject(object_id=THING, amount=5),
    verbs.Say(text="hello"), verbs.Say(text="open SE\u00adSAME"), verbs.Say(text="ünï" * 30), verbs.Emote(text="waves"),
    verbs.SetTyping(typing=True), verbs.SendIm(to=STRANGER, text="psst"), verbs.SendIm(to=OWNER, text="x" * 200),
    verbs.TurnTo(heading_deg=5.0), verbs.WalkTo(position=HERE), verbs.FollowAvatar(avatar_id=OWNER), verbs.StopMoving(),
    verbs.SitOn(object_id=THING), verbs.SitOnGround(), verbs.StandUp(), verbs.Touch(object_id=THING),
    verbs.TeleportTo(region="Plaza", position=HERE), verbs.TeleportTo(region="Abyss", position=HERE),
    verbs.TeleportHome(), verbs.OfferTeleport(to=OWNER, message="come"), verbs.RequestTeleport(to=OWNER),
    verbs.AnswerTeleportOffer(offer_id="o", accept=True), verbs.AnswerTeleportOffer(offer_id="o", accept=False),
    verbs.PlayAnimation(animation_id=THING), verbs.StopAnimation(animation_id=THING),
    verbs.AnswerDialog(offer_id="o", button="Pay"), verbs.AnswerPermission(offer_id="o", grant=("animate", "debit")),
    verbs.AnswerPermission(offer_id="o", grant=("animate",)), verbs.AnswerPermission(offer_id="o"),
    verbs.OfferFriendship(to=OWNER, message="hi"), verbs.AnswerFriendship(offer_id="o", accept=True),
    verbs.AnswerFriendship(offer_id="o", accept=False), verbs.EndFriendship(avatar_id=OWNER),
    verbs.GiveItem(item_id=THING, to=STRANGER), verbs.AnswerInventoryOffer(offer_id="o", accept=True),
    verbs.AnswerInventoryOffer(offer_id="o", accept=False), verbs.CreateNotecard(name="n", text="long " * 20),
    verbs.CreateLandmark(name="l"), verbs.UploadAsset(name="u", kind="texture", sha256="0" * 64, price=10),
    verbs.UploadAsset(name="u", kind="texture", sha256="0" * 64), verbs.RezObject(position=HERE),
    verbs.EditObject(object_id=THING, name="new"), verbs.EditObject(object_id=THING, description="d"),
    verbs.DeleteObject(object_id=THING), verbs.ReturnObject(object_id=THING), verbs.EjectAvatar(avatar_id=STRANGER),
]  # fmt: skip


class PaySubclass(verbs.PayAvatar, frozen=True, kw_only=True):
    """An action that isn't in the catalogue."""


def _broken(**fields):
    action = verbs.PayAvatar(to=STRANGER, amount=1)
    for name, value in fields.items():
        msgspec.structs.force_setattr(action, name, value)
    return action


BAD = [
    "pay_avatar", None, PaySubclass(to=STRANGER, amount=1), verbs.PayAvatar(to=NIL, amount=1), _broken(amount=True),
    _broken(amount=1.0), _broken(amount=2**63), _broken(amount=math.nan), _broken(to="owner"), _broken(to=None),
    _broken(to=f"{STRANGER}\n"), _broken(amount=10**30), _broken(description=object()),
]  # fmt: skip

CAPABILITIES = [each.value for each in verbs.Capability]
CALLS = [f"calls.{each}" for each in CAPABILITIES if each != "observe"]
SCARCE = ["withdrawals", "speech_bytes", "ims", "metres", "teleports", "prims", "items", "uploads", "linden"]
DOORS = [each.value for each in Origin if each is not Origin.OBJECT_TEXT]
PATTERNS = {
    "too-much": {"action": "pay_avatar", "argument": "amount", "over": 50},
    "too-little": {"action": "pay_avatar", "argument": "amount", "under": 2},
    "words": {"action": "say", "argument": "text", "contains": ["sesame"]},
    "very": {"action": "say", "argument": "text", "any_of": ["Hello"]},
    "long": {"action": "send_im", "argument": "text", "longer_than": 100},
    "elsewhere": {"action": "teleport_to", "argument": "region", "none_of": ["Plaza"]},
    "nameless": {"action": "edit_object", "argument": "name", "any_of": [""]},
    "script-permissions": {"action": "answer_permission", "argument": "grant", "none_of": ["animate"]},
}


def _drawn_section(rng):
    """Write a policy: mostly open, so that many requests come far, with small budgets and short times."""
    cell = lambda: rng.choice(["anyone"] * 5 + ["trusted", "owner", "deny"])  # noqa: E731
    budgets = {}
    for meter in (*CALLS, *SCARCE):
        if rng.random() < 0.12:
            continue
        scopes = ["global"]
        scopes += ["principal"] * (rng.random() < 0.3) + ["strangers"] * (rng.random() < 0.15)
        scopes += ["peer"] * (meter in {"ims", "items", "linden", "calls.money"} and rng.random() < 0.5)
        scopes += ["global"] * (rng.random() < 0.1)
        rng.shuffle(scopes)
        scopes = scopes[:4]
        budgets[meter] = [
            {"per": scope, "limit": rng.choice([2, 4, 8, 60, 300, 1000]), "window_s": window}
            for scope, window in zip(scopes, rng.sample([2, 10, 60, 61, 3600, 90_000], len(scopes)), strict=True)
        ]
    patterns = {
        name: {**pattern, "then": rng.choice(["deny", "approve", "off"])}
        for name, pattern in PATTERNS.items()
        if rng.random() < 0.5
    }
    return {
        "preset": rng.choice(["observer", "guide", "shopkeeper"]),
        "matrix": {door: {each: cell() for each in CAPABILITIES} for door in DOORS},
        "tainted": {each: rng.choice(["allow", "allow", "approve", "deny"]) for each in CAPABILITIES},
        "target_from": {
            each: rng.sample(["configuration", "authorised_words", "model"], rng.choice([1, 2, 3, 3, 3]))
            for each in CAPABILITIES
            if rng.random() < 0.8
        },
        "approvals": {each: rng.choice(["required", "not_required", "not_required"]) for each in CAPABILITIES},
        "patterns": patterns,
        "budgets": budgets,
        "approvers": rng.choice(["owner", "trusted"]),
        "dry_run": rng.random() < 0.08,
        "handle_ttl_s": rng.choice([0.5, 3.0, 10.0, 300.0]),
        "approval_ttl_s": rng.choice([1.0, 8.0, 60.0, 4000.0]),
    }


@functools.cache
def policies(number: int) -> tuple[Policy, ...]:
    """Compile so many policies; the same in every process."""
    rng = random.Random("policies")
    drawn = [Policy(msgspec.convert(_drawn_section(rng), PolicySection), ROLES) for _ in range(number)]
    assert len({each.version for each in drawn}) == number
    return tuple(drawn)


CRAMPED = Sizes(
    open_effects=3, ends_each=2, approvals=3, approvals_each=1, grants=2, accounts=(2, 1, 2, 2)
)  # fmt: skip


def cramp(patch) -> None:
    """Lower every ceiling of the real gateway to those of `CRAMPED`."""
    for module, name, value in (
        ("ledger", "OPEN_EFFECTS_MAX", 3), ("ledger", "SETTLED_EFFECTS_MAX", 4), ("history", "SETTLED_EFFECTS_MAX", 4),
        ("approvals", "APPROVAL_RECORDS_MAX", 3), ("history", "APPROVAL_RECORDS_MAX", 3),
        ("approvals", "APPROVALS_PER_PRINCIPAL_MAX", 1), ("grants", "SCHEDULE_GRANTS_MAX", 2),
        ("history", "SCHEDULE_GRANTS_MAX", 2), ("budgets", "POOL_SIZES", (2, 1, 2)), ("budgets", "PEERS_MAX", 2),
    ):  # fmt: skip
        patch.setattr(f"gridagent.policy.{module}.{name}", value)


class Disagreement(AssertionError):
    """The two answered differently."""


class Twins:
    """One history.

    Args:
        seed: draws everything.
        pool: compiled policies to choose from.
        cramped: the ceilings are those of `CRAMPED`; the real gateway's must have been lowered.
        seen: counts what happened, so that a test can ask whether everything did.
        keeping: whether the real one gives out changes; drawn when None.
    """

    def __init__(self, seed, pool, *, cramped=False, seen=None, keeping=None):
        self.seed = seed
        self.rng = rng = random.Random(seed)
        self.pool = pool
        self.seen = Counter() if seen is None else seen
        self.told: list[tuple[str, list]] = []
        self.real_rows, self.twin_rows = [], []
        self.policy = rng.choice(pool)
        keeps = rng.random() < 0.5 if keeping is None else keeping
        self.kept = [] if keeps else None
        self.base = None
        self.ticks = 1_700_000_000.0
        self.monotonic = 50.0
        real, twin = count(), count()
        self.real_tokens = lambda: f"t{next(real)}"
        self.real = Gateway(
            self.policy, tokens=self.real_tokens, audit=self.real_rows.append,
            changes=None if self.kept is None else self._keep,
        )  # fmt: skip
        self.twin = ReferenceGateway(
            self.policy.section, ROLES, self.policy.version, tokens=lambda: f"t{next(twin)}",
            nonces=lambda: nonce_from(f"t{next(twin)}"), audit=self.twin_rows.append,
            sizes=CRAMPED if cramped else None, keeps=keeps,
        )  # fmt: skip
        self.generation = 0
        self.handles, self.effects, self.approvals, self.nonces, self.grants = [], [], ["nobody's"], [], []
        self.last = None
        if rng.random() < 0.95:
            self.connect()

    def _keep(self, change) -> None:
        self.kept.append(change)

    @property
    def now(self) -> Instant:
        return Instant(self.ticks, self.monotonic)

    def same(self, what, real, twin) -> None:
        """Hold the answers and the rows of both against each other."""
        if real != twin or self.real_rows != self.twin_rows:
            rows = [pair for pair in zip(self.real_rows, self.twin_rows, strict=False) if pair[0] != pair[1]][:1]
            story = "\n".join(text.format(*parts) for text, parts in self.told)
            raise Disagreement(
                f"seed {self.seed!r}, at {what}:\n real {real}\n twin {twin}\n rows {rows or 'alike so far'}"
                f" ({len(self.real_rows)} and {len(self.twin_rows)})\n{story}"
            )
        self.real_rows.clear()
        self.twin_rows.clear()

    # --- one step each ----------------------------------------------------------------------------

    def request(self, action) -> ActionRequest:
        """Draw a request: mostly what fits together, for few causes, so that effects repeat."""
        rng, draw = self.rng, self.rng.random()
        grant = None
        principal, origin = rng.choice(AVATARS), rng.choice(DOORS_OF_AVATARS)
        verbatim = False
        if draw < 0.12:
            principal, origin, verbatim = OPERATOR, Origin.OPERATOR_CONSOLE, rng.random() < 0.7
        elif draw < 0.20:
            principal, origin = rng.choice(CLIENTS), rng.choice([Origin.AG_UI, Origin.MCP, Origin.A2A, Origin.GOAL])
        elif draw < 0.26:
            principal, origin = rng.choice([*POSERS, *AVATARS, *CLIENTS]), rng.choice(list(Origin))
            verbatim = rng.random() < 0.3
        if self.grants and draw > 0.5:
            grant, terms = rng.choice(self.grants)
            if rng.random() < 0.9:
                action = rng.choice(terms.actions)
            if rng.random() < 0.9:
                principal = terms.principal
            origin = origin if rng.random() < 0.1 else Origin.SCHEDULE
            if rng.random() < 0.05:
                grant = "made-up"
        return ActionRequest(
            action=action, principal=principal, origin=origin,
            generation=self.generation if rng.random() < 0.96 else self.generation + rng.choice((-1, 1)),
            correlation="c", cause=f"cause-{rng.randrange(3)}", ordinal=rng.choice((0, 0, 1, 2)), conversation="talk",
            tainted=rng.random() < 0.15, verbatim=verbatim, grant=grant,
            target_provenance=rng.choice([Provenance.AUTHORISED_WORDS] * 3 + [*Provenance]),
            travel_m=rng.choice((None, 0.0, 2.5, 300.0, math.nan, -1.0, 1e9)),
        )  # fmt: skip

    def decide(self) -> None:
        rng = self.rng
        action = rng.choice(GOOD if rng.random() < 0.95 else BAD)
        request = self.request(action)
        if self.last is not None and rng.random() < 0.15:
            request = msgspec.structs.replace(self.last, generation=self.generation)
        self.last = request
        busy = rng.choice(BUSY)
        self.told.append(("decide {} busy {} at {}", [request, set(busy), self.now]))
        real = self.real.decide(request, self.now, busy=busy)
        twin = self.twin.decide(request, self.now, busy=busy)
        self.same("decide", self.shown(real), self.shown(twin))
        self.take(real, twin)

    def shown(self, decision):
        """Return what must be equal of an answer."""
        match decision:
            case Authorized():
                return (
                    "authorized", decision.effect, decision.action, decision.deadline_s, decision.rule,
                    decision.dry_run, decision.correlation,
                )  # fmt: skip
            case NeedsApproval():
                return "needs_approval", decision.approval_id, decision.rule, decision.expires_at
        return decision

    def asked(self, request):
        """Return a request as it can be compared: a way that is no way is left out."""
        if request is None or request.travel_m is None or 0 <= request.travel_m < math.inf:
            return request
        return msgspec.structs.replace(request, travel_m=None)

    def take(self, real, twin) -> None:
        """Remember what a decision gave out."""
        match real:
            case Authorized():
                self.seen["authorized"] += 1
                self.handles.append((real.handle, twin.handle))
                self.effects.append(real.effect)
            case NeedsApproval():
                self.seen["needs_approval"] += 1
                self.approvals.append(real.approval_id)
                nonce = self.real.nonce_of(real.approval_id)
                self.same("nonce_of", nonce, self.twin.nonce_of(real.approval_id))
                self.nonces.append(nonce)
            case None:
                pass
            case _:
                self.seen[f"denied {real.code.value}"] += 1

    def redeem(self) -> None:
        if not self.handles:
            self.decide()
            return
        rng = self.rng
        real, twin = self.handles[-1] if rng.random() < 0.7 else rng.choice(self.handles)
        if rng.random() < 0.04:
            real = twin = rng.choice((object(), None, "handle"))
        generation = self.generation if rng.random() < 0.95 else self.generation - 1
        verb = "intend" if rng.random() < 0.25 else "redeem"
        self.told.append(("{} {} under {} at {}", [verb, real, generation, self.now]))
        ends = [self._tried(getattr(each, verb), handle, generation) for each, handle in
                ((self.real, real), (self.twin, twin))]  # fmt: skip
        self.seen[f"{verb} {ends[0] if isinstance(ends[0], str) else 'done'}"] += 1
        self.same(verb, *ends)

    def _tried(self, verb, handle, generation):
        try:
            got = verb(handle, generation=generation, now=self.now)
        except AuthorityRefused as refused:
            return refused.reason
        return (getattr(got, "action", got),)

    def settle(self) -> None:
        if not self.effects:
            self.decide()
            return
        rng = self.rng
        effect = self.effects[-1] if rng.random() < 0.7 else rng.choice([*self.effects, "0" * 64])
        outcome = rng.choice(
            (Confirmed(evidence=EvidenceKind.BALANCE), Refused(reason="no"), InDoubt(reason="late"), "gone")
        )
        self.told.append(("settle {} {} at {}", [effect[:8], outcome, self.now]))
        self.same("in doubt", self.real.action_in_doubt(effect), self.twin.action_in_doubt(effect))
        if outcome == "gone":
            real = self.real.abandon(effect, "gone", self.now)
            self.same("abandon", real, self.twin.abandon(effect, "gone", self.now))
            return
        self.same("doubts", *(sorted(map(repr, each.doubts())) for each in (self.real, self.twin)))
        if not isinstance(outcome, InDoubt) and rng.random() < 0.4:
            by, proof = rng.choice(tuple(SettledBy)), rng.choice(("", "nonce"))
            counted = self.real.settle_doubt(effect, outcome, self.now, by=by, proof=proof)
            self.seen["doubt settled" if counted else "no doubt to settle"] += 1
            self.same("settle doubt", counted, self.twin.settle_doubt(effect, outcome, self.now, by=by, proof=proof))
            return
        counted = self.real.settle(effect, outcome, self.now)
        self.seen["settled" if counted else "not settled"] += 1
        self.same("settle", counted, self.twin.settle(effect, outcome, self.now))

    def answer(self) -> None:
        rng = self.rng
        if len(self.approvals) == 1 and rng.random() < 0.9:
            self.decide()
            return
        who = rng.choice([OPERATOR, OPERATOR, *AVATARS])
        busy = rng.choice(BUSY)
        allow = rng.random() < 0.75
        nonce = rng.choice([None, "0000-0000-0000", *self.nonces[-3:], *self.nonces[-1:]])
        if rng.random() < 0.4 and nonce is not None:
            self.told.append(("answer_im {} {} by {} at {}", [allow, nonce, who.key, self.now]))
            answers = [
                each.answer_im(ImAnswer(allow=allow, nonce=nonce), by=who, now=self.now, busy=busy)
                for each in (self.real, self.twin)
            ]
        else:
            approval_id = self.approvals[-1] if rng.random() < 0.7 else rng.choice(self.approvals)
            via = Origin.OPERATOR_CONSOLE if who is OPERATOR else Origin.DIRECT_IM
            via = via if rng.random() < 0.95 else rng.choice(list(Origin))
            self.told.append(
                ("answer {} {} {} by {} via {} at {}", [approval_id, allow, nonce, who.key, via, self.now])
            )
            answers = [
                each.answer(approval_id, allow=allow, by=who, via=via, nonce=nonce, now=self.now, busy=busy)
                for each in (self.real, self.twin)
            ]
        real, twin = answers
        shown = [
            (each.approval_id, each.code, each.accepted, self.shown(each.decision), self.asked(each.request))
            for each in answers
        ]
        self.seen[f"answer {real.code.value}"] += 1
        self.same("answer", *shown)
        if isinstance(real.decision, Authorized):
            self.take(real.decision, twin.decision)

    def guess(self) -> None:
        """Somebody who may answer tries nonces until nobody listens any more."""
        who = self.rng.choice(AVATARS[:3])
        self.told.append(("five guesses by {} at {}", [who.key, self.now]))
        for _ in range(5):
            guess = ImAnswer(allow=True, nonce="0000-0000-0000")
            self.same("guess", *(each.answer_im(guess, by=who, now=self.now) for each in (self.real, self.twin)))

    def claim(self) -> None:
        approval_id = self.rng.choice(self.approvals)
        self.told.append(("claim {} at {}", [approval_id, self.now]))
        self.same("claim", self.real.claim(approval_id, self.now), self.twin.claim(approval_id, self.now))

    def give(self) -> None:
        rng = self.rng
        if self.grants and rng.random() < 0.3:
            grant_id = rng.choice([*(each for each, _ in self.grants), "made-up"])
            via = rng.choice([Origin.OPERATOR_CONSOLE] * 4 + [Origin.DIRECT_IM])
            self.told.append(("revoke {} via {} at {}", [grant_id, via, self.now]))
            real = self.real.grants.revoke(grant_id, by=OPERATOR, via=via, now=self.now)
            self.seen[f"grant {real.code.value}"] += 1
            self.same("revoke", real, self.twin.revoke(grant_id, by=OPERATOR, via=via, now=self.now))
            return
        first = rng.choice(GOOD)
        alike = list({msgspec.json.encode(each): each for each in GOOD if type(each) is type(first)}.values())
        start = self.ticks + rng.choice((-100.0, -1.0, 0.0, 5.0))
        terms = GrantTerms(
            principal=rng.choice([OPERATOR, AVATARS[0], AVATARS[2], CLIENTS[1]]),
            actions=tuple(rng.sample(alike, rng.randint(1, len(alike)))), times=rng.choice((1, 2, 5)),
            window_s=rng.choice((2, 60, 3600)), valid_from=max(0.0, start),
            valid_until=max(0.0, start) + rng.choice((3.0, 200.0, 90_000.0)),
        )  # fmt: skip
        by, via = rng.choice([(OPERATOR, Origin.OPERATOR_CONSOLE)] * 8 + [(AVATARS[0], Origin.DIRECT_IM)])
        self.told.append(("give {} at {}", [terms, self.now]))
        real = self.real.grants.give(terms, by=by, via=via, now=self.now)
        self.seen[f"grant {real.code.value}"] += 1
        self.same("give", real, self.twin.give(terms, by=by, via=via, now=self.now))
        if real.grant_id is not None:
            self.grants.append((real.grant_id, terms))

    def wait(self) -> None:
        rng = self.rng
        passed = rng.choice((0.0, 0.25, 1.0, 3.0, 7.5, 11.0, 61.0, 400.0, 4000.0))
        self.monotonic += passed
        self.ticks += passed + (rng.choice((-86_400.0, -3.0, 2.0, 3600.0, 86_400.0)) if rng.random() < 0.1 else 0.0)
        self.told.append(("time {}", [self.now]))
        self.same("next_deadline", self.real.next_deadline(), self.twin.next_deadline())
        if rng.random() < 0.5:
            self.ended("expire", self.real.expire(self.now), self.twin.expire(self.now))

    def ended(self, what, real, twin) -> None:
        for each in real:
            kind = "approval" if each.approval_id else "grant" if each.grant_id else "effect"
            self.seen[f"ended {kind} {each.how}"] += 1
        self.same(what, list(real), list(twin))

    def connect(self) -> None:
        wrong = self.rng.random() < 0.03
        number = self.generation if wrong else self.generation + 1
        self.told.append(("connect {}", [number]))
        ends = []
        for each in (self.real, self.twin):
            try:
                each.open_generation(number)
            except InternalError:
                ends.append("refused")
            else:
                ends.append("open")
        self.same("open_generation", *ends)
        if ends[0] == "open":
            self.generation = number

    def disconnect(self) -> None:
        number = self.generation if self.rng.random() < 0.9 else self.generation - 1
        self.told.append(("disconnect {} at {}", [number, self.now]))
        self.ended(
            "close_generation", self.real.close_generation(number, self.now),
            self.twin.close_generation(number, self.now),
        )  # fmt: skip
        if self.rng.random() < 0.8:
            self.connect()

    def switch(self) -> None:
        verb = self.rng.choice(("hold", "release", "release", "enter_safe_mode", "leave_safe_mode", "leave_safe_mode"))
        self.told.append(("{} at {}", [verb, self.now]))
        self.ended(verb, getattr(self.real, verb)(self.now) or (), getattr(self.twin, verb)(self.now) or ())
        self.seen[verb] += 1

    def cancel(self) -> None:
        cause = f"cause-{self.rng.randrange(3)}"
        self.told.append(("cancel {} at {}", [cause, self.now]))
        self.ended("cancel", self.real.cancel_cause(cause, self.now), self.twin.cancel_cause(cause, self.now))

    def replace(self) -> None:
        self.policy = policy = self.rng.choice(self.pool)
        self.told.append(("replace by {} at {}", [policy.version, self.now]))
        real = self.real.replace_policy(policy, self.now)
        self.seen["replaced"] += 1
        self.same("replace", list(real), self.twin.replace_policy(policy.section, policy.version, self.now))

    def restart(self) -> None:
        """End the process and begin another, from a snapshot or from what was kept of a cut-off one."""
        rng = self.rng
        crashed = self.kept is not None and rng.random() < 0.7
        if crashed:
            history = History(self.base)
            for change in self.kept:
                history.apply(change)
            snapshot = history.snapshot()
        else:
            snapshot = self.real.snapshot()
        if rng.random() < 0.3:
            self.policy = rng.choice(self.pool)
        self.ticks += rng.choice((-400.0, 0.0, 1.0, 30.0, 5000.0))
        self.monotonic = rng.choice((0.0, 7.0, 1e6))
        self.told.append(
            ("restart {} under {} {}", ["after a crash" if crashed else "in order", self.policy.version, self.now])
        )
        if self.kept is not None:
            self.base, self.kept = snapshot, []
        self.real, ended = Gateway.restore(
            self.policy, snapshot, self.now, tokens=self.real_tokens, audit=self.real_rows.append,
            changes=None if self.kept is None else self._keep,
        )  # fmt: skip
        twin = self.twin.restart(self.policy.section, self.policy.version, self.now, crashed=crashed)
        self.seen["crashed" if crashed else "restarted"] += 1
        self.ended("restart", ended, twin)
        if rng.random() < 0.95:
            self.connect()

    def status(self) -> None:
        """Compare everything that an operator is shown."""
        real, twin = self.real.status(), self.twin
        at = twin.budgets.clock.at
        shown = (
            real.policy, real.generation, real.held, real.safe_mode, real.dry_run, real.principals, real.open_effects,
            sorted(real.in_doubt), real.decisions,
            {(each.meter, each.per, each.window_s): each.used for each in real.budgets},
            [(each.approval_id, each.rule, each.cause, each.expires_at) for each in real.approvals],
            [(each.grant_id, each.used, each.used_in_all) for each in real.grants],
        )  # fmt: skip
        expected = (
            twin.version, twin.generation, twin.held, twin.safe_mode, twin.section.dry_run, twin.budgets.principals(),
            sum(each.state != "in_doubt" for each in twin.effects),
            sorted(each.key for each in twin.effects if each.state == "in_doubt"), dict(twin.tally),
            twin.budgets.gauges(),
            [(each.approval_id, each.rule, each.request.cause, each.expires_at) for each in twin.waiting],
            [(each.grant_id, each.line.used("", at), each.used) for each in twin.usable],
        )  # fmt: skip
        self.same("status", shown, expected)

    def run(self, steps, *, without=()) -> None:
        """Take so many steps, then look at everything."""
        for step in self.rng.choices(STEPS, WEIGHTS, k=steps):
            if step not in without:
                step(self)
        self.status()


_WEIGHTED = {
    Twins.decide: 36, Twins.redeem: 14, Twins.settle: 9, Twins.answer: 13, Twins.wait: 9, Twins.give: 5,
    Twins.disconnect: 3, Twins.switch: 3, Twins.cancel: 2, Twins.replace: 2, Twins.restart: 4, Twins.claim: 1,
    Twins.guess: 1,
}  # fmt: skip
STEPS, WEIGHTS = list(_WEIGHTED), list(_WEIGHTED.values())
