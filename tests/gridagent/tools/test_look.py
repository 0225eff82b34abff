"""Looking answers from the avatar's own view, bounded and free of hidden characters."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridagent.actions import Position
from gridagent.events import AvatarView, ObjectView, Posture
from gridagent.language import AssistantTurn, LlmRequest, ToolCall, UserTurn
from gridagent.llm.offline.reading import read_request
from gridagent.session.surroundings import Whereabouts
from gridagent.tools.catalogue import CATALOGUE
from gridagent.tools.codes import ResultCode
from gridagent.tools.descriptor import Port
from gridagent.tools.envelope import RESULT_MAX_BYTES, ToolResult
from gridagent.tools.look import (
    _ANSWERS,
    CheckBalance,
    FindRegion,
    LookAround,
    LookAtAvatar,
    LookAtObject,
    look,
    plain,
    tell_time,
)
from gridagent.tools.ports import Around, Balance, OneAvatar, OneObject, WorldView
from gridagent.tools.work import Query

ME = "00000000-0000-4000-8000-000000000001"


def uuid(number: int) -> str:
    """Number a UUID."""
    return f"00000000-0000-4000-9000-{number:012}"


class View:
    """A view that says what a test wants."""

    def __init__(
        self, *, avatars: Sequence[AvatarView] = (), objects: Sequence[ObjectView] = (), here: bool = True
    ) -> None:
        self.self_id = ME
        self.region = "Plaza\u202e"
        self.position = Position(x=10.0, y=10.0, z=20.0) if here else None
        self.posture = Posture.STANDING
        self.balance: int | None = 250
        self._avatars, self._objects = avatars, objects

    def avatars(self) -> Sequence[AvatarView]:
        """Say who is near."""
        return self._avatars

    def objects(self) -> Sequence[ObjectView]:
        """Say what is near."""
        return self._objects


def avatar(number: int, name: str = "Somebody", distance_m: float = 1.0) -> AvatarView:
    """Put an avatar somewhere."""
    return AvatarView(avatar_id=uuid(number), name=name, position=Position(x=1.0, y=1.0), distance_m=distance_m)


def thing(number: int, name: str = "Bench", x: float = 11.0, description: str = "") -> ObjectView:
    """Put an object somewhere."""
    return ObjectView(
        object_id=uuid(number),
        name=name,
        owner_id=uuid(900),
        position=Position(x=x, y=10.0, z=20.0),
        description=description,
        reference="nonce",
    )


def test_looking_round_shows_the_near_ones_and_counts_the_rest() -> None:
    """Whoever is out of range, and the avatar itself, is left out; what doesn't fit is counted. Spec: MND-13."""
    people = [avatar(each, distance_m=float(each)) for each in range(1, 8)]
    people.append(AvatarView(avatar_id=ME, name="Me", position=Position(x=10.0, y=10.0)))
    view = View(avatars=people, objects=[thing(20), thing(21, x=60.0), thing(22)])
    seen = look(LookAround(radius_m=5.0, limit=2), view)
    assert isinstance(seen, Around)
    assert [each.avatar_id for each in seen.avatars] == [uuid(1), uuid(2)]
    assert seen.more_avatars == 3
    assert [each.object_id for each in seen.objects] == [uuid(20), uuid(22)]
    assert seen.more_objects == 0
    assert (seen.region, seen.posture) == ("Plaza", Posture.STANDING)
    assert {each.reference for each in seen.objects} == {""}


def test_a_look_fits_into_a_result_whatever_there_is() -> None:
    """The longest names and descriptions of a full region still make one result. Spec: MND-13."""
    people = [avatar(each, name="😀" * 128) for each in range(256)]
    things = [thing(each, name='"' * 128, description="\\" * 256) for each in range(256)]
    seen = look(LookAround(limit=50), View(avatars=people, objects=things))
    assert isinstance(seen, Around)
    assert len(msgspec.json.encode(seen)) <= RESULT_MAX_BYTES
    assert len(seen.avatars) + seen.more_avatars == 256
    assert len(seen.objects) + seen.more_objects == 256
    assert seen.avatars
    assert seen.objects


def test_one_avatar_and_one_object_are_seen_by_uuid() -> None:
    """A name is never looked up; what isn't near isn't seen. Spec: MND-13. Fault: 14."""
    view = View(
        avatars=[avatar(1, "Owner\u200b"), avatar(2, "Owner")], objects=[thing(3, "Sign\u202e", description="a\x07b")]
    )
    seen = look(LookAtAvatar(avatar_id=uuid(1)), view)
    assert isinstance(seen, OneAvatar)
    assert (seen.avatar.avatar_id, seen.avatar.name) == (uuid(1), "Owner")
    sign = look(LookAtObject(object_id=uuid(3)), view)
    assert isinstance(sign, OneObject)
    assert (sign.object.name, sign.object.description, sign.object.reference) == ("Sign", "ab", "")
    assert look(LookAtAvatar(avatar_id=uuid(3)), view) is None
    assert look(LookAtObject(object_id=uuid(1)), view) is None


def test_the_balance_is_told_once_it_is_known() -> None:
    """Nothing is guessed."""
    view = View()
    assert look(CheckBalance(), view) == Balance(balance=250)
    view.balance = None
    assert look(CheckBalance(), view) is None


@pytest.mark.parametrize(
    "query", [LookAround(), CheckBalance(), LookAtAvatar(avatar_id=uuid(1)), LookAtObject(object_id=uuid(3))]
)
def test_outside_of_the_world_nothing_is_seen(query: Query) -> None:
    """An avatar that isn't in the world sees nothing, not an empty region."""
    assert look(query, View(avatars=[avatar(1)], objects=[thing(3)], here=False)) is None


def test_every_question_to_the_view_is_answered_here() -> None:
    """The table is total over the port, and other ports' questions are not taken. Spec: MND-13."""
    assert set(_ANSWERS) == {native.kind for native in CATALOGUE if native.tool.port is Port.VIEW}
    with pytest.raises(KeyError):
        look(FindRegion(region="Plaza"), View())


def test_the_built_in_model_understands_a_look() -> None:
    """Who and what a result shows is read as people and things. Spec: MND-13."""
    seen = look(LookAround(), View(avatars=[avatar(1, "Ann")], objects=[thing(3)]))
    result = ToolResult(call_id="c", name="look_around", code=ResultCode.DONE, data=msgspec.json.encode(seen))
    asked = ToolCall(id="c", name="look_around", arguments="{}")
    turns = (UserTurn(text="who is here?"), AssistantTurn(tool_calls=(asked,)), result.as_turn())
    reading = read_request(LlmRequest(turns=turns))
    assert [(each.id, each.name) for each in reading.people()] == [(uuid(1), "Ann")]
    assert [(each.id, each.name) for each in reading.things()] == [(uuid(3), "Bench")]
    assert reading.facts["region"] == "Plaza"


def test_a_session_is_a_view() -> None:
    """What a session knows of its place can be looked at as it is."""
    place: WorldView = Whereabouts(None)
    assert look(LookAround(), place) is None


@pytest.mark.parametrize(
    ("wall", "utc", "weekday"),
    [(0.0, "1970-01-01T00:00:00Z", "Thursday"), (1_795_000_000.9, "2026-11-18T11:06:40Z", "Wednesday")],
)
def test_the_time_is_told_in_utc(wall: float, utc: str, weekday: str) -> None:
    """The moment is an argument; nothing reads a clock. Spec: SIM-2."""
    told = tell_time(wall)
    assert told is not None
    assert (told.utc, told.weekday) == (utc, weekday)


@pytest.mark.parametrize("wall", [float("nan"), float("inf"), 1e30, -1e30])
def test_a_moment_that_is_none_is_not_told(wall: float) -> None:
    """An impossible clock gives no answer and no error."""
    assert tell_time(wall) is None


@given(st.text())
def test_a_plain_text_has_nothing_hidden_in_it(text: str) -> None:
    """What cannot be seen, or turns text round, is gone; a text without is as it was. Fault: 14, 17."""
    shown = plain(text)
    assert all(ord(each) >= 32 and each not in "\u200b\u202e\u2028\ufeff" for each in shown)
    assert plain(shown) == shown
    assert plain("Ann O'Hara") == "Ann O'Hara"
    assert plain("Änn\u200d\n\x00!") == "Änn!"
