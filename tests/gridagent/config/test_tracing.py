"""Claims about the section ``tracing``."""

import msgspec
import pytest

from gridagent.config.load import parse_config
from gridagent.config.model import Config
from gridagent.config.tracing import TracingSection
from gridagent.errors import ConfigError


def test_nothing_is_traced_unless_it_is_asked_for():
    """And no words go out unless that is asked for too. Spec: OPS-2."""
    section = Config().tracing
    assert (section.enabled, section.content, section.endpoint, section.file) == (False, False, None, None)
    assert section.token_header == "Authorization"


@pytest.mark.parametrize("over", [{"sample": 1.01}, {"sample": -0.1}, {"service_name": ""}, {"exporter": "otlp"}])
def test_what_is_out_of_bounds_is_refused(over):
    """Spec: CFG-1 — too much, too little, and keys that are none."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(over, TracingSection)


def test_a_header_is_said_to_be_none_in_one_sentence():
    """A header of two lines would be two headers. Spec: CFG-1."""
    with pytest.raises(ConfigError, match=r"tracing\.token_header: holds a line break"):
        parse_config(b'{"tracing": {"token_header": "X: 1\\r\\nY"}}')
    with pytest.raises(ConfigError, match=r"tracing\.token_header: must be the name of an HTTP header"):
        parse_config(b'{"tracing": {"token_header": "X:"}}')
    assert parse_config(b'{"tracing": {"token_header": "x-honeycomb-team"}}').tracing.token_header[:2] == "x-"
