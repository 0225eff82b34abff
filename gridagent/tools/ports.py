"""What answers a turn's questions: one protocol a port, and the answers they give.

Owns the shapes only. `WorldView` is what every session has; the others belong to rooms of their own and a tool
whose port was not given is hidden from every turn. Reading through a port causes nothing but for
`MemoryPort.remember`, which keeps a fact of ours and changes nothing in the world.

Invariant: every answer is bounded, and whoever gives one binds it to the turn's own conversation key before it
gets here (Spec: MND-13, MEM-1, MEM-7).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Protocol, TypeAlias, runtime_checkable

from msgspec import Meta

from gridagent.actions import Position
from gridagent.events import AvatarView, ItemView, ObjectView, ParcelView, Posture
from gridagent.ids import AvatarId
from gridagent.limits import Bounded, ChatText, Label, Name
from gridagent.tools.work import Answer

__all__ = (
    "Around",
    "Balance",
    "ClockPort",
    "ConversationPort",
    "FactView",
    "FactsFound",
    "GoalView",
    "GoalsListed",
    "GoalsPort",
    "InventoryFound",
    "InventoryPort",
    "LineView",
    "LinesRead",
    "MapPort",
    "MemoryPort",
    "OneAvatar",
    "OneObject",
    "OneParcel",
    "ParcelPort",
    "RegionFound",
    "Remembered",
    "SqlPort",
    "TableRead",
    "TimeTold",
    "WorldView",
)

NEAR_SHOWN_MAX = 50
"""Avatars, and objects, that one look shows at most."""
FOUND_MAX = 50
FactText: TypeAlias = Annotated[str, Meta(max_length=512)]
Count: TypeAlias = Annotated[int, Meta(ge=0)]


# --- the world in view ----------------------------------------------------------------------------


class WorldView(Protocol):
    """What the avatar's own session knows of where it is; plain reads of memory."""

    @property
    def self_id(self) -> AvatarId | None:
        """The avatar's own UUID, once in the world."""
        ...

    @property
    def region(self) -> str:
        """The region's name; empty while not in the world."""
        ...

    @property
    def position(self) -> Position | None:
        """Where the avatar is; None while not in the world."""
        ...

    @property
    def posture(self) -> Posture | None:
        """How its body is held, once known."""
        ...

    @property
    def balance(self) -> int | None:
        """L$, once known."""
        ...

    def avatars(self) -> Sequence[AvatarView]:
        """Who is near, nearest first."""
        ...

    def objects(self) -> Sequence[ObjectView]:
        """What is near, nearest first."""
        ...


class Around(Answer, frozen=True, kw_only=True):
    """What is to be seen from here, nearest first."""

    region: Name
    position: Position
    posture: Posture | None
    avatars: Annotated[tuple[AvatarView, ...], Meta(max_length=NEAR_SHOWN_MAX)]
    more_avatars: Count
    """How many more there are than are shown."""
    objects: Annotated[tuple[ObjectView, ...], Meta(max_length=NEAR_SHOWN_MAX)]
    more_objects: Count


class OneAvatar(Answer, frozen=True, kw_only=True):
    """One avatar that is near."""

    avatar: AvatarView


class OneObject(Answer, frozen=True, kw_only=True):
    """One object that is near."""

    object: ObjectView


class Balance(Answer, frozen=True, kw_only=True):
    """What the avatar has."""

    balance: int
    """L$."""


class OneParcel(Answer, frozen=True, kw_only=True):
    """The parcel the avatar stands on."""

    parcel: ParcelView


class ParcelPort(Protocol):
    """Knows the parcel under the avatar."""

    def parcel(self) -> ParcelView | None:
        """Return it, once known."""
        ...


# --- what the grid has to be asked for --------------------------------------------------------------


class RegionFound(Answer, frozen=True, kw_only=True):
    """A region as the map shows it."""

    region: Name
    online: bool
    avatars: Count
    """How many are there."""


@runtime_checkable
class MapPort(Protocol):
    """Looks regions up."""

    async def find_region(self, region: str) -> RegionFound | None:
        """Return a region by its name; None where the map has none.

        Cancellation: safe.
        """
        ...


class InventoryFound(Answer, frozen=True, kw_only=True):
    """Items that match."""

    items: Annotated[tuple[ItemView, ...], Meta(max_length=FOUND_MAX)]
    more: Count


@runtime_checkable
class InventoryPort(Protocol):
    """Looks into the avatar's inventory."""

    async def search(self, *, words: str, kind: str, limit: int) -> InventoryFound | None:
        """Return items whose name holds the words, of a kind or of any; None where it cannot be read now.

        Cancellation: safe.
        """
        ...


# --- what we keep ourselves -------------------------------------------------------------------------


class LineView(Bounded, frozen=True, kw_only=True):
    """One thing that was said."""

    who: Name
    avatar_id: AvatarId | None = None
    text: ChatText
    seconds_ago: Annotated[float, Meta(ge=0)]


class LinesRead(Answer, frozen=True, kw_only=True):
    """What was said in this conversation, the latest last."""

    lines: Annotated[tuple[LineView, ...], Meta(max_length=FOUND_MAX)]
    more: Count


class ConversationPort(Protocol):
    """Reads the turn's own conversation and no other."""

    def lines(self, *, limit: int) -> LinesRead | None:
        """Return the latest lines."""
        ...


class FactView(Bounded, frozen=True, kw_only=True):
    """One remembered fact."""

    text: FactText
    source: Label
    """Who it came from, as a label of where text comes from."""
    about: AvatarId | None = None
    days_ago: Annotated[float, Meta(ge=0)]


class FactsFound(Answer, frozen=True, kw_only=True):
    """What is remembered that fits, the best first."""

    facts: Annotated[tuple[FactView, ...], Meta(max_length=FOUND_MAX)]


class Remembered(Answer, frozen=True, kw_only=True):
    """A fact is kept."""

    new: bool
    """False where it was known already."""


class MemoryPort(Protocol):
    """Recalls and keeps facts, bound to the reading conversation's key."""

    async def recall(self, *, words: str, limit: int) -> FactsFound | None:
        """Return the facts that fit best.

        Cancellation: safe.
        """
        ...

    async def remember(self, *, text: str, about: AvatarId | None) -> Remembered | None:
        """Keep a fact; one that is known already is not kept twice.

        Cancellation: may have kept it.
        """
        ...


Cell: TypeAlias = Annotated[str, Meta(max_length=2_048)] | int | float | None


class TableRead(Answer, frozen=True, kw_only=True):
    """What a question in SQL brought."""

    columns: Annotated[tuple[Label, ...], Meta(max_length=16)]
    rows: Annotated[tuple[tuple[Cell, ...], ...], Meta(max_length=FOUND_MAX)]
    cut: bool
    """There is more than is shown."""


class SqlPort(Protocol):
    """Answers questions in SQL about the turn's own conversation and the facts it sees, and about nothing else."""

    async def query(self, *, sql: str) -> TableRead:
        """Answer one question; whatever is not one read-only question within its bounds is refused by raising.

        Cancellation: safe.
        """
        ...


class GoalView(Bounded, frozen=True, kw_only=True):
    """One goal of the avatar."""

    goal_id: Label
    title: Annotated[str, Meta(max_length=256)]
    state: Label


class GoalsListed(Answer, frozen=True, kw_only=True):
    """The avatar's goals."""

    goals: Annotated[tuple[GoalView, ...], Meta(max_length=FOUND_MAX)]
    more: Count


class GoalsPort(Protocol):
    """Lists the avatar's goals."""

    def goals(self, *, limit: int) -> GoalsListed | None:
        """Return them, the most urgent first."""
        ...


class TimeTold(Answer, frozen=True, kw_only=True):
    """What time it is."""

    utc: Label
    """Date and time of day, ISO 8601."""
    weekday: Label


class ClockPort(Protocol):
    """Knows the time of day."""

    def wall(self) -> float:
        """Return seconds since 1970, UTC."""
        ...
