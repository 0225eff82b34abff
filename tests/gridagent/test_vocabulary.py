"""Claims about events, controls and observations together: the words that cross a border."""

import msgspec
import pytest

from gridagent.authority import DenialCode, Origin, Principal, Role
from gridagent.controls import CONTROLS, Control, control_name
from gridagent.errors import LimitExceeded
from gridagent.events import EVENTS, AlertShown, ChatHeard, GridEvent, Speaker, SpeakerKind, event_name
from gridagent.observations import OBSERVATIONS, HoldChanged, Observation, observation_name


@pytest.mark.parametrize("union", [EVENTS, CONTROLS, OBSERVATIONS], ids=["events", "controls", "observations"])
def test_tags_of_a_union_are_unique(union):
    """Each member of a tagged union can be told from every other on the wire."""
    tags = [kind.__struct_config__.tag for kind in union]
    assert all(isinstance(tag, str) and tag for tag in tags)
    assert len(set(tags)) == len(tags)


@pytest.mark.parametrize("union", [EVENTS, CONTROLS, OBSERVATIONS], ids=["events", "controls", "observations"])
def test_members_are_frozen_and_described(union):
    """A value that crosses a task cannot be changed by either side, and its meaning is written down."""
    for kind in union:
        assert kind.__struct_config__.frozen, kind
        assert kind.__doc__, kind


def test_names_are_the_tags():
    """Logs and references call things by the tag they have on the wire."""
    assert event_name(AlertShown(text="x")) == "alert_shown"
    assert control_name(CONTROLS[0]()) == "connect"
    assert observation_name(HoldChanged(held=True)) == "hold"


def test_an_over_long_event_cannot_be_made():
    """Spec: SUP-12 — grid input crosses the port only as bounded values."""
    source = Speaker(kind=SpeakerKind.AVATAR)
    with pytest.raises(LimitExceeded):
        ChatHeard(utterance_id="1", source=source, text="x" * 1024)
    with pytest.raises(LimitExceeded):
        ChatHeard(utterance_id="1", source=Speaker(kind=SpeakerKind.AVATAR, name="n" * 129), text="x")


def test_unknown_fields_of_a_control_are_refused():
    """A control from outside is taken whole or not at all."""
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.json.decode(b'{"control":"hold","until":"never"}', type=Control)


def test_events_survive_json():
    """An event written to a log reads back as the same value."""
    event = ChatHeard(utterance_id="1", source=Speaker(kind=SpeakerKind.SYSTEM), text="hello")
    assert msgspec.json.decode(msgspec.json.encode(event), type=GridEvent) == event


def test_observations_carry_their_order():
    """Spec: BND-3 — a gap in the sequence shows that a subscriber lagged."""
    seen = Observation(seq=3, avatar="robin", generation=1, at=2.0, body=HoldChanged(held=True))
    assert msgspec.json.decode(msgspec.json.encode(seen))["seq"] == 3


def test_roles_are_ranked_and_objects_are_last():
    """Spec: POL-4 — an object ranks below a stranger, a front as trusted, the operator above all."""
    ranks = [role.rank for role in Role]
    assert ranks == sorted(ranks)
    assert Role.OBJECT.rank < Role.STRANGER.rank < Role.TRUSTED.rank == Role.FRONT.rank < Role.OWNER.rank
    assert Role.OWNER.rank < Role.OPERATOR.rank


def test_principals_are_told_apart_by_one_key():
    """An avatar and a client never share a key, whatever the client calls itself."""
    avatar = "0f2b4c6d-8e9f-4a1b-8c2d-3e4f5a6b7c8d"
    assert Principal(avatar_id=avatar).key == avatar
    assert Principal(client=avatar).key == f"client:{avatar}"


def test_codes_are_stable_words():
    """Spec: POL-3 — codes and origins are documented words, equal to their names."""
    assert all(code.value == code.name.lower() for code in DenialCode)
    assert {origin.value for origin in Origin} >= {"public_chat", "direct_im", "object_text", "operator_console"}
