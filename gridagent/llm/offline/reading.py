"""What the offline model gets out of a request: who spoke and said what, and what its tools have told it.

Owns reading only. Results are read for what they hold, not for one exact shape: people and things are found
wherever a result lists something with a name and an id. Pure, and bounded by the request's own bounds.

Invariant: nothing a result or a visitor says becomes a rule; it is data to look up (Spec: MND-4, Fault: 17).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import attrs
import msgspec

from gridagent.language import AssistantTurn, LlmRequest, ToolTurn, UserTurn
from gridagent.presence.address import words_of

__all__ = ("Reading", "Seen", "Sort", "read_request", "went_well")

_LABEL: Final = re.compile(r"(?P<name>[^\n:\[(]{0,130})[\[(](?P<label>[^\n\])]{1,200})[\])][^\n:]{0,80}:[ \t]*")
_ID: Final = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?\b")
_DEPTH_MAX: Final = 12
_SEEN_MAX: Final = 256
_PEOPLE: Final = frozenset({"avatars", "people", "persons", "visitors", "avatar"})
_THINGS: Final = frozenset({"objects", "things", "object"})
_BAD: Final = frozenset(
    {"error", "denied", "refused", "failed", "failure", "invalid", "unknown", "cancelled", "timeout"}
)
_OPEN: Final = frozenset({"in_doubt", "pending", "needs_approval", "waiting"})
_STATES: Final = ("status", "outcome", "state", "result", "kind", "code")


class Sort:
    """What something is."""

    PERSON: Final = "person"
    THING: Final = "thing"


@attrs.frozen(kw_only=True)
class Seen:
    """Somebody or something that a look-up told of."""

    sort: str
    id: str
    name: str
    distance_m: float | None
    position: tuple[float, float, float] | None
    sittable: bool
    is_self: bool
    price: int | None
    """L$, of a thing that is for sale."""


@attrs.frozen(kw_only=True)
class Reading:
    """A request, understood."""

    words: str
    """What was said last."""
    speaker_name: str
    speaker_id: str
    """The whole id or its beginning, as the label has it; empty where there is none."""
    met: bool
    """Whoever spoke last has spoken before, going by the label's id."""
    called: tuple[str, ...]
    """Tools that were called since, in order."""
    results: tuple[tuple[str, str], ...]
    """Names and texts of what came of them."""
    seen: tuple[Seen, ...]
    facts: Mapping[str, object]
    """Single values of the results, by their name."""

    def speaker(self) -> Seen | None:
        """Return whoever spoke, among those that were seen."""
        people = [each for each in self.seen if each.sort == Sort.PERSON and not each.is_self]
        name = words_of(self.speaker_name)
        if self.speaker_id:
            alike = [each for each in people if each.id.startswith(self.speaker_id)]
            if len(alike) > 1:  # ids may begin alike, by chance or by design; nobody is taken for another
                alike = [each for each in alike if name and words_of(each.name) == name]
            return alike[0] if len(alike) == 1 else None
        return next((each for each in people if name and words_of(each.name) == name), None)

    def people(self) -> tuple[Seen, ...]:
        """Return everybody else that was seen, the nearest first."""
        return tuple(each for each in self.seen if each.sort == Sort.PERSON and not each.is_self)

    def things(self) -> tuple[Seen, ...]:
        """Return what was seen, the nearest first."""
        return tuple(each for each in self.seen if each.sort == Sort.THING)


def read_request(request: LlmRequest) -> Reading:
    """Understand a request."""
    last = max((at for at, turn in enumerate(request.turns) if isinstance(turn, UserTurn)), default=-1)
    said = request.turns[last].text if last >= 0 else ""
    name, speaker_id, words = _parted(said)
    before = (turn.text for turn in request.turns[: max(last, 0)] if isinstance(turn, UserTurn))
    since = request.turns[last + 1 :]
    results = tuple((turn.name, turn.text) for turn in since if isinstance(turn, ToolTurn))
    seen: dict[str, Seen] = {}  # at most _SEEN_MAX
    facts: dict[str, object] = {}  # at most _SEEN_MAX
    for _, text in results:
        _gather(_tree(text), "", 0, seen, facts)
    far = 1e9
    return Reading(
        words=words,
        speaker_name=name,
        speaker_id=speaker_id,
        met=bool(speaker_id) and any(_parted(each)[1] == speaker_id for each in before),
        called=tuple(call.name for turn in since if isinstance(turn, AssistantTurn) for call in turn.tool_calls),
        results=results,
        seen=tuple(sorted(seen.values(), key=lambda each: far if each.distance_m is None else each.distance_m)),
        facts=facts,
    )


def went_well(result: str) -> bool | None:
    """Tell whether a result is a success; None while nobody knows yet."""
    tree = _tree(result)
    if not isinstance(tree, dict):
        return not words_of(result)[:1] or words_of(result)[0] not in _BAD
    if isinstance(tree.get("ok"), bool):
        if not tree["ok"]:
            return None if _open(tree) else False
    elif tree.get("error"):
        return False
    if _open(tree):
        return None
    return not any(isinstance(tree.get(key), str) and tree[key].lower() in _BAD for key in _STATES)


def _open(tree: dict[object, object]) -> bool:
    return any(isinstance(value := tree.get(key), str) and value.lower() in _OPEN for key in _STATES)


def _parted(said: str) -> tuple[str, str, str]:
    """Part ``Name [id, role]: words``; a text without such a label is words alone."""
    label = _LABEL.match(said)
    if label is None:
        return "", "", said
    found = _ID.search(label["label"].lower())
    return label["name"].strip(), found[0] if found else "", said[label.end() :]


def _tree(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _gather(tree: object, key: str, depth: int, seen: dict[str, Seen], facts: dict[str, object]) -> None:
    """Collect people, things and single values, wherever they are."""
    if depth > _DEPTH_MAX:
        return
    if isinstance(tree, dict):
        found = _seen(tree, key)
        if found is not None and len(seen) < _SEEN_MAX:
            seen.setdefault(found.id, found)
        for name, value in tree.items():
            _gather(value, str(name), depth + 1, seen, facts)
    elif isinstance(tree, list):
        for value in tree[:_SEEN_MAX]:
            _gather(value, key, depth + 1, seen, facts)
    elif len(facts) < _SEEN_MAX:
        facts.setdefault(key, tree)


def _seen(tree: dict[object, object], key: str) -> Seen | None:
    sort = Sort.THING if "object_id" in tree or key in _THINGS else None
    sort = Sort.PERSON if "avatar_id" in tree or key in _PEOPLE else sort
    found = next(
        (tree[name] for name in ("avatar_id", "object_id", "id", "uuid") if isinstance(tree.get(name), str)), ""
    )
    name = tree.get("name")
    if sort is None or not isinstance(found, str) or not found or not isinstance(name, str):
        return None
    return Seen(
        sort=sort,
        id=found,
        name=name,
        distance_m=next(_numbers(tree, "distance_m", "distance"), None),
        position=_position(tree.get("position")),
        sittable=tree.get("sittable") is True,
        is_self=tree.get("self") is True or tree.get("is_self") is True,
        price=next((int(value) for value in _numbers(tree, "for_sale", "price")), None),
    )


def _numbers(tree: dict[object, object], *names: str) -> Iterator[float]:
    for name in names:
        value = tree.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield float(value)


def _position(value: object) -> tuple[float, float, float] | None:
    if isinstance(value, dict):
        numbers = [next(_numbers(value, axis), None) for axis in ("x", "y", "z")]
    elif isinstance(value, list):
        numbers = [each if isinstance(each, int | float) else None for each in value[:3]]
    else:
        return None
    x, y, z = (*numbers, None, None, None)[:3]
    return None if x is None or y is None else (float(x), float(y), float(z or 0.0))
