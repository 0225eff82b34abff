"""The oracle's own reading of a policy: brute force over the JSON an operator wrote (Spec: POL-4, POL-5, POL-6).

Owns a second, deliberately simple answer to "may this have been authorised?" and shares no code with the
policy room: roles, cells, taint, targets, patterns and sums are worked out here from plain JSON, action
by action. May import only the vocabulary's values. Used by `gridagent.simulation.oracle`.

It reads only policies that say everything themselves (every cell, every meter), so that no preset has to
be merged here. Metres are not summed: only the avatar knows how far it believed a way to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from gridagent.actions import Action

__all__ = ("Ask", "PolicyView", "RolesView", "Rulebook", "Sums", "units")

_RANKS: Final = {"anyone": 1, "trusted": 2, "owner": 3}
_FRONTS: Final = ("ag_ui", "a2a", "mcp")
_NOTHING: Final = 0
_STRANGER: Final = 1
_TRUSTED: Final = 2
_OWNER: Final = 3
_OPERATOR: Final = 4
_WITHDRAWING: Final = ("stop_moving", "stand_up", "stop_animation")
_DECLINING: Final = ("answer_teleport_offer", "answer_friendship", "answer_inventory_offer")
_TARGETS: Final = {
    "send_im": "to",
    "follow_avatar": "avatar_id",
    "sit_on": "object_id",
    "touch": "object_id",
    "teleport_to": "region",
    "offer_teleport": "to",
    "request_teleport": "to",
    "answer_teleport_offer": "offer_id",
    "offer_friendship": "to",
    "end_friendship": "avatar_id",
    "give_item": "to",
    "pay_avatar": "to",
    "pay_object": "object_id",
    "return_object": "object_id",
    "eject_avatar": "avatar_id",
}
_RECEIVERS: Final = {
    "send_im": "to",
    "offer_teleport": "to",
    "request_teleport": "to",
    "offer_friendship": "to",
    "end_friendship": "avatar_id",
    "give_item": "to",
    "pay_avatar": "to",
    "pay_object": "object_id",
}
_SPOKEN: Final = {
    "say": ("text",),
    "emote": ("text",),
    "send_im": ("text",),
    "offer_teleport": ("message",),
    "request_teleport": ("message",),
    "answer_dialog": ("button",),
    "offer_friendship": ("message",),
    "create_notecard": ("name", "text"),
    "pay_avatar": ("description",),
    "rez_object": ("name",),
    "edit_object": ("name", "description"),
}
_ONE_OF: Final = {
    "send_im": "ims",
    "teleport_to": "teleports",
    "teleport_home": "teleports",
    "answer_teleport_offer": "teleports",
    "give_item": "items",
    "answer_inventory_offer": "items",
    "create_notecard": "items",
    "create_landmark": "items",
    "upload_asset": "uploads",
    "rez_object": "prims",
}
_LINDEN: Final = {"pay_avatar": "amount", "pay_object": "amount", "upload_asset": "price"}
_LINDEN_MAX: Final = 1_000_000
_OLDEST_S: Final = 4 * 3_600.0
"""Four times the longest window that is ever drawn."""


class PatternView(msgspec.Struct, kw_only=True):
    """One pattern of a policy."""

    action: str
    argument: str
    then: str
    over: float | None = None
    longer_than: int | None = None
    contains: tuple[str, ...] | None = None
    none_of: tuple[str, ...] | None = None

    def matches(self, action: Action) -> bool:
        """Tell whether an action's argument is what the pattern describes; texts are plain ASCII words here."""
        value: object = getattr(action, self.argument)
        if self.over is not None:
            return isinstance(value, int) and value > self.over
        texts = value if isinstance(value, tuple) else (str(value),)
        if self.longer_than is not None:
            return any(len(text.encode("utf-8", "replace")) > self.longer_than for text in texts)
        if self.contains is not None:
            return any(part in text.lower() for text in texts for part in self.contains)
        return self.none_of is not None and any(text not in self.none_of for text in texts)


class BudgetView(msgspec.Struct, kw_only=True):
    """One budget of a policy."""

    per: str
    limit: int
    window_s: int


class PolicyView(msgspec.Struct, kw_only=True):
    """A whole policy as it was written."""

    matrix: dict[str, dict[str, str]]
    tainted: dict[str, str]
    target_from: dict[str, tuple[str, ...]]
    approvals: dict[str, str]
    patterns: dict[str, PatternView]
    budgets: dict[str, tuple[BudgetView, ...]]
    dry_run: bool
    handle_ttl_s: float
    approval_ttl_s: float
    approvers: str = "owner"


class RolesView(msgspec.Struct, kw_only=True):
    """Who is who."""

    owners: tuple[str, ...]
    trusted: tuple[str, ...]


class Ask(msgspec.Struct, kw_only=True, gc=False):
    """What was asked, by whom, through which door."""

    who: str
    origin: str
    capability: str
    tainted: bool


_decode_policy: Final = msgspec.json.Decoder(PolicyView).decode
_decode_roles: Final = msgspec.json.Decoder(RolesView).decode


def _withdraws(name: str, action: Action) -> bool:
    if name in _WITHDRAWING:
        return True
    if name in _DECLINING:
        return not getattr(action, "accept")  # noqa: B009 - which of the classes it is, the name has said
    return name == "answer_permission" and not getattr(action, "grant")  # noqa: B009 - as above


def units(name: str, capability: str, action: Action) -> dict[str, int]:
    """Return how much of which meter one action uses up, metres left out."""
    if _withdraws(name, action):
        return {"withdrawals": 1}
    used = {f"calls.{capability}": 1}
    if name in _ONE_OF:
        used[_ONE_OF[name]] = 1
    spoken = sum(len(text.encode()) for field in _SPOKEN.get(name, ()) if (text := getattr(action, field)))
    if spoken:
        used["speech_bytes"] = spoken
    if name in _LINDEN and getattr(action, _LINDEN[name]):
        used["linden"] = getattr(action, _LINDEN[name])
    return used


class Rulebook:
    """One policy and who is who, judged by brute force.

    Args:
        policy: JSON text of a policy section that says everything.
        roles: JSON text of the section ``roles``.
    """

    __slots__ = ("policy", "roles")

    def __init__(self, policy: bytes, roles: bytes) -> None:
        self.policy = _decode_policy(policy)
        self.roles = _decode_roles(roles)

    def rank(self, who: str, origin: str) -> int:
        """Work out how far somebody who came through a door is trusted."""
        named, operator = who.startswith("client:"), who == "client:operator"
        rank = _NOTHING
        if origin in _FRONTS:
            rank = _TRUSTED if named and not operator else _NOTHING
        elif origin == "object_text":
            rank = _NOTHING
        elif not named:
            rank = _OWNER if who in self.roles.owners else _TRUSTED if who in self.roles.trusted else _STRANGER
        elif origin == "operator_console" or (operator and origin in {"schedule", "goal"}):
            rank = _OPERATOR
        elif origin in {"schedule", "goal"}:
            rank = _TRUSTED
        return rank

    def may_answer(self, who: str, asker: str) -> bool:
        """Tell whether an avatar may answer an approval that somebody else, or they themselves, asked for."""
        if who in self.roles.owners:
            return True
        return self.policy.approvers == "trusted" and who in self.roles.trusted and who != asker

    def before_arguments(self, ask: Ask) -> Iterator[str]:
        """Say what forbids an authorisation whatever its arguments are."""
        if ask.origin == "object_text":
            yield "object text caused something"
        cell = self.policy.matrix.get(ask.origin, {}).get(ask.capability, "deny")
        least = _RANKS.get(cell)
        if least is None or self.rank(ask.who, ask.origin) < least:
            yield f"the cell {ask.origin} x {ask.capability} is {cell}"

    def asks(self, ask: Ask, name: str, action: Action, *, operators_own: bool) -> bool:
        """Tell whether a person must have said yes to this action."""
        if operators_own:
            return False
        patterns = (each for each in self.policy.patterns.values() if each.action == name)
        if any(each.then == "approve" and each.matches(action) for each in patterns):
            return True
        if _withdraws(name, action):
            return False
        by_taint = ask.tainted and self.policy.tainted.get(ask.capability) == "approve"
        return by_taint or self.policy.approvals.get(ask.capability) == "required"

    def with_arguments(
        self, ask: Ask, name: str, action: Action, provenance: str, *, operators_own: bool
    ) -> Iterator[str]:
        """Say what forbids this very action."""
        for pattern in self.policy.patterns.values():
            if pattern.action == name and pattern.then == "deny" and pattern.matches(action):
                yield f"a pattern denies {name}.{pattern.argument}"
        if name in _LINDEN:
            amount: object = getattr(action, _LINDEN[name])
            if type(amount) is not int or not 0 <= amount <= _LINDEN_MAX or (amount == 0 and name != "upload_asset"):
                yield f"{amount!r} is no amount"
        if _withdraws(name, action):
            return
        if ask.tainted and self.policy.tainted.get(ask.capability) == "deny":
            yield f"tainted turns may not {ask.capability}"
        allowed = self.policy.target_from.get(ask.capability)
        own_words = operators_own and allowed is not None and "authorised_words" in allowed
        if name in _TARGETS and allowed is not None and provenance not in allowed and not own_words:
            yield f"the target of {name} came from {provenance}"


class Sums:
    """What was used of every budget, moment by moment, added up anew each time.

    Bounds: what is older than any window goes when something is added.
    """

    __slots__ = ("_used",)

    def __init__(self) -> None:
        self._used: dict[tuple[str, str, str], list[tuple[float, int, str]]] = {}

    def overrun(self, book: Rulebook, ask: Ask, name: str, action: Action, at: float, effect: str) -> str | None:
        """Add one action at the moment it was authorised; say which budget that overran, if one.

        Args:
            book: the policy in force at that moment.
            ask: who asked.
            name: the action's tag.
            action: the action.
            at: seconds.
            effect: its key.
        """
        receiver = getattr(action, _RECEIVERS[name]) if name in _RECEIVERS else ""
        keys = {"principal": ask.who, "global": "", "peer": receiver}
        if book.rank(ask.who, ask.origin) < _TRUSTED:
            keys["strangers"] = ""
        found: str | None = None
        for meter, amount in units(name, ask.capability, action).items():
            budgets = book.policy.budgets.get(meter, ())
            if not budgets:
                return f"{amount} of {meter}, which has no budget"
            for per, key in keys.items():
                if per == "peer" and not receiver:
                    continue
                entries = self._used.setdefault((meter, per, key), [])
                if entries and entries[0][0] < at - _OLDEST_S:
                    entries[:] = [entry for entry in entries if entry[0] >= at - _OLDEST_S / 2]
                entries.append((at, amount, effect))
                for budget in budgets:
                    if budget.per == per:
                        used = self._most(entries, at, budget.window_s)
                        if used > budget.limit:
                            found = (
                                f"{used} of {meter} per {per} in {budget.window_s} s, where {budget.limit} is allowed"
                            )
        return found

    def take_back(self, effect: str) -> None:
        """Take out what cost nothing and was lost in a crash before it was written down (Spec: EFX-2)."""
        for entries in self._used.values():
            entries[:] = [entry for entry in entries if entry[2] != effect]

    @staticmethod
    def _most(entries: list[tuple[float, int, str]], at: float, window_s: int) -> int:
        """Return the largest sum of any window that ends at or after ``at`` and holds it."""
        ends = [moment for moment, _, _ in entries if at <= moment < at + window_s]
        near = [(moment, amount) for moment, amount, _ in entries if at - window_s < moment < at + window_s]
        return max(sum(amount for moment, amount in near if end - window_s < moment <= end) for end in ends)
