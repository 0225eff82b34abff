"""The comments of a first configuration."""

from __future__ import annotations

import json

import msgspec
import pytest

from gridagent.actions import Capability
from gridagent.authority import Origin, Role
from gridagent.cli.init_remarks import remarks_for
from gridagent.config import Config
from gridagent.config.annotations import fields_of, read_type
from gridagent.config.policy import PolicySection, Preset
from gridagent.config.policy_check import policy_problems
from gridagent.policy.policy import Policy


@pytest.mark.parametrize("path", [path for path in remarks_for("robin") if path])
def test_every_comment_is_about_a_key_that_exists(path: str) -> None:
    """A key that was renamed takes its comment along. Spec: CFG-1."""
    info = read_type(Config)
    for name in path.replace("avatars.robin", "avatars").split("."):
        if info.is_map:
            info = read_type(info.args[1])
        assert info.is_struct, path
        assert isinstance(info.type, type)
        info = fields_of(info.type)[name].type


def test_the_example_of_the_policy_can_be_used_as_it_is() -> None:
    """Without its slashes, in every preset. Spec: OPS-9."""
    example = [line for line in remarks_for("robin")["policy"].splitlines() if line.startswith(" ")]
    cells = json.loads("{" + "".join(example).rstrip().rstrip(",") + "}")
    for preset in Preset:
        section = msgspec.convert({"preset": preset.value, **cells}, PolicySection)
        assert policy_problems(section, path="$.policy") == ()
        assert Policy(section).admits(Origin.PUBLIC_CHAT, Capability.MOVE, Role.TRUSTED)
