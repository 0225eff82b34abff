"""Looking: what a model may ask before it speaks, and the answers that need nothing but the avatar's own view.

Owns the questions, their tools, and the answers to those about the world in view and the time. Answers from
other rooms come through `gridagent.tools.ports`. Pure: a view is read, nothing is asked of the grid.

Invariant: an answer fits into a result whatever the view holds, its names and descriptions are free of control
and format characters, and every avatar and object in it has its UUID beside its name (Spec: MND-13, Fault: 14).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Annotated, ClassVar, Final, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from gridagent.actions import EffectClass
from gridagent.events import AvatarView, ObjectView
from gridagent.ids import AvatarId, ObjectId
from gridagent.limits import SQL_TEXT_MAX_BYTES, Bounded, Label, Name
from gridagent.tools.descriptor import Need, Port
from gridagent.tools.native import ask
from gridagent.tools.ports import (
    FOUND_MAX,
    NEAR_SHOWN_MAX,
    Around,
    Balance,
    FactsFound,
    FactText,
    GoalsListed,
    InventoryFound,
    LinesRead,
    OneAvatar,
    OneObject,
    OneParcel,
    RegionFound,
    Remembered,
    TableRead,
    TimeTold,
    WorldView,
)
from gridagent.tools.work import Answer, Query

__all__ = (
    "LOOK",
    "CheckBalance",
    "FindRegion",
    "GetTime",
    "ListGoals",
    "LookAround",
    "LookAtAvatar",
    "LookAtObject",
    "LookAtParcel",
    "QueryMemory",
    "ReadConversation",
    "RecallMemory",
    "Remember",
    "SearchInventory",
    "look",
    "plain",
    "tell_time",
)

_RADIUS_DEFAULT_M: Final = 64.0
_SHOWN_DEFAULT: Final = 20
_LISTED_MAX_BYTES: Final = 12 * 1024
"""What the avatars, and the objects, of one look may take; the rest is counted."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})

Radius: TypeAlias = Annotated[float, Meta(ge=1.0, le=512.0)]
Shown: TypeAlias = Annotated[int, Meta(ge=1, le=NEAR_SHOWN_MAX)]
Found: TypeAlias = Annotated[int, Meta(ge=1, le=FOUND_MAX)]
Words: TypeAlias = Annotated[str, Meta(max_length=128)]


# --- questions --------------------------------------------------------------------------------------


class LookAround(Query, frozen=True, kw_only=True, tag="look_around"):
    """Who and what is near."""

    port: ClassVar = Port.VIEW
    answer: ClassVar = Around
    radius_m: Radius = _RADIUS_DEFAULT_M
    limit: Shown = _SHOWN_DEFAULT


class LookAtAvatar(Query, frozen=True, kw_only=True, tag="look_at_avatar"):
    """One avatar."""

    port: ClassVar = Port.VIEW
    answer: ClassVar = OneAvatar
    avatar_id: AvatarId


class LookAtObject(Query, frozen=True, kw_only=True, tag="look_at_object"):
    """One object."""

    port: ClassVar = Port.VIEW
    answer: ClassVar = OneObject
    object_id: ObjectId


class CheckBalance(Query, frozen=True, kw_only=True, tag="check_balance"):
    """How much the avatar has."""

    port: ClassVar = Port.VIEW
    answer: ClassVar = Balance


class LookAtParcel(Query, frozen=True, kw_only=True, tag="look_at_parcel"):
    """The land under the avatar."""

    port: ClassVar = Port.PARCEL
    answer: ClassVar = OneParcel


class FindRegion(Query, frozen=True, kw_only=True, tag="find_region"):
    """A region on the map."""

    port: ClassVar = Port.MAP
    answer: ClassVar = RegionFound
    region: Annotated[Name, Meta(min_length=1)]


class SearchInventory(Query, frozen=True, kw_only=True, tag="search_inventory"):
    """Items of the avatar."""

    port: ClassVar = Port.INVENTORY
    answer: ClassVar = InventoryFound
    words: Words = ""
    kind: Label = ""
    limit: Found = _SHOWN_DEFAULT


class ReadConversation(Query, frozen=True, kw_only=True, tag="read_conversation"):
    """What was said before in this conversation."""

    port: ClassVar = Port.CONVERSATION
    answer: ClassVar = LinesRead
    limit: Found = _SHOWN_DEFAULT


class RecallMemory(Query, frozen=True, kw_only=True, tag="recall_memory"):
    """Remembered facts."""

    port: ClassVar = Port.MEMORY
    answer: ClassVar = FactsFound
    words: Annotated[Words, Meta(min_length=1)]
    limit: Found = 10


class Remember(Query, frozen=True, kw_only=True, tag="remember"):
    """A fact to keep."""

    port: ClassVar = Port.MEMORY
    answer: ClassVar = Remembered
    text: Annotated[FactText, Meta(min_length=1)]
    about: AvatarId | None = None


class QueryMemory(Query, frozen=True, kw_only=True, tag="query_memory"):
    """A question in SQL about this conversation."""

    port: ClassVar = Port.SQL
    answer: ClassVar = TableRead
    sql: Annotated[str, Meta(min_length=1, max_length=SQL_TEXT_MAX_BYTES)]


class ListGoals(Query, frozen=True, kw_only=True, tag="list_goals"):
    """The avatar's goals."""

    port: ClassVar = Port.GOALS
    answer: ClassVar = GoalsListed
    limit: Found = _SHOWN_DEFAULT


class GetTime(Query, frozen=True, kw_only=True, tag="get_time"):
    """The time."""

    port: ClassVar = Port.CLOCK
    answer: ClassVar = TimeTold


_WORLD: Final = (Need.WORLD,)

LOOK: Final = (
    ask(
        LookAround,
        "See where you are and who and what is near you, nearest first. Names are display text and can be "
        "spoofed: tell people apart by avatar_id.",
        {"radius_m": "How far to look, in metres.", "limit": "How many avatars and how many objects to show."},
        reads=("world",),
        needs=_WORLD,
    ),
    ask(
        LookAtAvatar,
        "See one avatar that is near: name, position and distance.",
        {"avatar_id": "UUID of the avatar."},
        reads=("world",),
        needs=_WORLD,
    ),
    ask(
        LookAtObject,
        "See one object that is near: name, owner, description, position, price and whether it can be sat on.",
        {"object_id": "UUID of the object."},
        reads=("world",),
        needs=_WORLD,
    ),
    ask(
        CheckBalance,
        "See how many L$ you have.",
        {},
        reads=("money",),
        needs=(Need.WORLD, Need.MONEY),
        taints=False,
        private=True,
    ),
    ask(
        LookAtParcel,
        "See the parcel you stand on: name, owner, description and what you may do there.",
        {},
        reads=("world",),
        needs=_WORLD,
    ),
    ask(
        FindRegion,
        "Look a region up on the map by its exact name, before you teleport there.",
        {"region": "Name of the region."},
        occupies=("map",),
        needs=_WORLD,
        timeout_s=15.0,
    ),
    ask(
        SearchInventory,
        "Find items in your own inventory.",
        {
            "words": "Part of the item's name; empty for any.",
            "kind": "Kind of item, such as notecard, landmark, object or animation; empty for any.",
            "limit": "How many to show.",
        },
        occupies=("inventory",),
        needs=(Need.WORLD, Need.INVENTORY),
        timeout_s=15.0,
    ),
    ask(
        ReadConversation,
        "Read what was said earlier in this conversation.",
        {"limit": "How many of the latest lines to read."},
        reads=("conversation",),
    ),
    ask(
        RecallMemory,
        "Recall facts that were remembered earlier. What others told you is hearsay.",
        {"words": "What to look for.", "limit": "How many facts to recall."},
        reads=("memory",),
    ),
    ask(
        Remember,
        "Keep one fact for later conversations.",
        {"text": "The fact, in one sentence.", "about": "UUID of the avatar it is about, if any."},
        effect=EffectClass.REPEATABLE,
        occupies=("memory",),
        taints=False,
        calls_max=8,
    ),
    ask(
        QueryMemory,
        "Count or search what was said in this conversation and what you remember, with one SQLite SELECT over "
        "lines (said_at, seconds_ago, who, avatar_id, source, text) and facts (learnt_at, days_ago, text, source, "
        "about, region). At most 50 rows come back.",
        {"sql": "One SELECT; simple functions only, no recursion."},
        reads=("conversation", "memory"),
        calls_max=8,
    ),
    ask(
        ListGoals,
        "See your goals and how far they are.",
        {"limit": "How many to show."},
        reads=("goals",),
        taints=False,
    ),
    ask(GetTime, "See the date and the time of day.", {}, reads=("clock",), taints=False),
)
"""The looking tools, and `remember`."""


# --- answers from what is in view -------------------------------------------------------------------


def look(query: Query, view: WorldView) -> Answer | None:
    """Answer a question about the world in view; None where there is no such thing to be seen.

    Args:
        query: one whose port is `Port.VIEW`.
        view: the avatar's own.

    Raises:
        KeyError: the question is for another port.
    """
    return None if view.position is None else _ANSWERS[type(query)](query, view)


def tell_time(wall: float) -> TimeTold | None:
    """Return the time of day.

    Args:
        wall: seconds since 1970, UTC.
    """
    try:
        then = datetime.fromtimestamp(wall, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return TimeTold(utc=f"{then:%Y-%m-%dT%H:%M:%SZ}", weekday=_WEEKDAYS[then.weekday()])


def plain(text: str) -> str:
    """Return a text without characters that cannot be seen or that turn others round."""
    return text if text.isascii() and text.isprintable() else "".join(each for each in text if _is_seen(each))


_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _is_seen(character: str) -> bool:
    return unicodedata.category(character) not in _UNSEEN


def _avatar(seen: AvatarView) -> AvatarView:
    return msgspec.structs.replace(seen, name=plain(seen.name))


def _object(seen: ObjectView) -> ObjectView:
    # The reference is a nonce of our own effects and nobody's business.
    return msgspec.structs.replace(seen, name=plain(seen.name), description=plain(seen.description), reference="")


Seen = TypeVar("Seen", bound=Bounded)


def _listed(seen: Iterable[Seen], limit: int) -> tuple[tuple[Seen, ...], int]:
    """Return as many as may be shown, and how many more there are."""
    shown: list[Seen] = []
    room, more = _LISTED_MAX_BYTES, 0
    for each in seen:
        room -= len(msgspec.json.encode(each)) + 1
        if more or room < 0 or len(shown) >= limit:
            more += 1
        else:
            shown.append(each)
    return tuple(shown), more


def _around(query: LookAround, view: WorldView) -> Around | None:
    here = view.position
    assert here is not None  # noqa: S101 - `look` has made sure
    near = [each for each in view.avatars() if each.distance_m <= query.radius_m and each.avatar_id != view.self_id]
    things = [each for each in view.objects() if here.distance_to(each.position) <= query.radius_m]
    avatars, more_avatars = _listed(map(_avatar, near), query.limit)
    objects, more_objects = _listed(map(_object, things), query.limit)
    return Around(
        region=plain(view.region),
        position=here,
        posture=view.posture,
        avatars=avatars,
        more_avatars=more_avatars,
        objects=objects,
        more_objects=more_objects,
    )


def _one_avatar(query: LookAtAvatar, view: WorldView) -> OneAvatar | None:
    found = next((each for each in view.avatars() if each.avatar_id == query.avatar_id), None)
    return None if found is None else OneAvatar(avatar=_avatar(found))


def _one_object(query: LookAtObject, view: WorldView) -> OneObject | None:
    found = next((each for each in view.objects() if each.object_id == query.object_id), None)
    return None if found is None else OneObject(object=_object(found))


def _balance(_: CheckBalance, view: WorldView) -> Balance | None:
    return None if view.balance is None else Balance(balance=view.balance)


_ANSWERS: Final[dict[type[Query], Callable[..., Answer | None]]] = {
    LookAround: _around,
    LookAtAvatar: _one_avatar,
    LookAtObject: _one_object,
    CheckBalance: _balance,
}
"""One row a question to `Port.VIEW`; a test holds it total."""
