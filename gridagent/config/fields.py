"""The kinds of value a configuration key can have, each with its bounds and the words that explain it.

Owns leaf types only: an annotation carries the range (`Meta`), the words for "must be …" (``description``) and,
under ``extra["kind"]``, the one check a range cannot say. The model is made of them; the builder reads them.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from gridagent.config.wall_time import minutes_of
from gridagent.ids import AvatarKey

__all__ = (
    "KIND_CHECKS",
    "AvatarKeyText",
    "FilePath",
    "HeaderName",
    "LoopbackHost",
    "PersonName",
    "Place",
    "Port",
    "Seconds",
    "SecretFile",
)

HOUR_S: Final = 3_600.0
DAY_S: Final = 24 * HOUR_S

Seconds: TypeAlias = Annotated[float, Meta(ge=0.01, le=HOUR_S)]
"""A time-out or pause within one hour."""
LongSeconds: TypeAlias = Annotated[float, Meta(ge=0.01, le=DAY_S)]
"""A pause within one day."""
Port: TypeAlias = Annotated[int, Meta(ge=0, le=65_535)]
"""A TCP port; 0 lets the system choose."""
AvatarKeyText: TypeAlias = Annotated[
    AvatarKey,
    Meta(description="a short name: lower-case letters, digits, '-' and '_', beginning with a letter or digit"),
]
"""The operator's own name of an avatar."""
FilePath: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=4_096, extra={"kind": "path"}, description="the path of a file or directory")
]
"""Absolute, relative to the configuration file's directory, or beginning with ``~/``."""
SecretFile: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4_096,
        extra={"kind": "secret_file"},
        description="the path of a file that holds the secret (never the secret itself)",
    ),
]
"""Path of a file with one line in it, that only its owner may read."""
LoopbackHost: TypeAlias = Annotated[
    str,
    Meta(
        max_length=64,
        extra={"kind": "loopback_host"},
        description="a loopback address such as 127.0.0.1 or ::1: the endpoints are for this machine only",
    ),
]
"""A numeric address of this machine."""
HeaderName: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=64, extra={"kind": "header_name"}, description="the name of an HTTP header")
]
"""Letters, digits and hyphens."""
PersonName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=63)]
"""One part of an account's name."""
Place: TypeAlias = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=128,
        extra={"kind": "place"},
        description="'last', 'home', or a place as 'Region/x/y/z' with metres such as 'Plaza/128/128/25'",
    ),
]
"""Where to log in or go to."""

_PLACE = re.compile(r"(?:last|home|[^/&]{1,100}/\d{1,4}/\d{1,4}/\d{1,4})\Z", re.ASCII)

_HEADER = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\Z", re.ASCII)


def _is_loopback(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False


KIND_CHECKS: Final[Mapping[str, Callable[[str], bool]]] = {
    "header_name": lambda text: _HEADER.match(text) is not None,
    "loopback_host": _is_loopback,
    "span": lambda text: minutes_of(text) is not None,
    "place": lambda text: _PLACE.match(text) is not None,
}
"""What each kind of text must be beyond its length; a kind that isn't listed has no check of its own."""
