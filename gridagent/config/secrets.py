"""The only two values that carry credentials, and the one place that knows what they look like on the wire.

Owns `SecretStr` (a password or key), `EndpointUrl` (a URL whose query may be a key), `Secrets` (every secret
that was loaded, by configuration path) and the derived forms a redactor has to look for. Neither value can be
printed, formatted, pickled, copied or put into JSON; `reveal` is the one way to the content, and every call of
it can be found by name. The loader makes them; adapters reveal them; `gridagent.observability` hides them.

Invariant: no method but `reveal` (and `Secrets.forms`, for the redactor) returns or raises anything that holds
the content (Spec: CFG-3).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Final, NoReturn
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

__all__ = ("MASK", "SECRET_MIN_CHARS", "EndpointUrl", "SecretStr", "Secrets", "derived_forms")

MASK: Final = "***"
SECRET_MIN_CHARS: Final = 4
"""Shorter secrets are refused: hiding them would blot out half of every log line."""
_QUERY_VALUE_MIN_CHARS: Final = 8
"""Shorter query values ("true", "2024") are hidden with the whole query, not one by one."""
_LOGIN_PASSWORD_CHARS: Final = 16
"""Second Life's login looks at no more of a password than this before it hashes it."""
_URL_MAX_CHARS: Final = 2_048
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9.])?\Z")


class _Guarded:
    """What both values refuse; the content lives in one slot that nothing but `reveal` reads."""

    __slots__ = ("_content",)

    def __init__(self, content: str) -> None:
        self._content = content

    def reveal(self) -> str:
        """Return the content itself; the caller keeps it out of every output."""
        return self._content

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str, /) -> str:
        return str(self)

    def __reduce_ex__(self, protocol: object, /) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be pickled or copied")

    def __getstate__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be pickled or copied")

    def matches(self, other: bytes) -> bool:
        """Compare with bytes from outside in constant time."""
        return hmac.compare_digest(self._content.encode(), other)


class SecretStr(_Guarded):
    """A password, key or token of one line. Cannot be compared by ``==``: use `matches`."""

    __slots__ = ()

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("a SecretStr is not compared by ==; use matches()")

    def __ne__(self, other: object) -> NoReturn:
        raise TypeError("a SecretStr is not compared by !=; use matches()")

    __hash__ = None  # type: ignore[assignment]  # a hash would answer "is it this one?"


class EndpointUrl(_Guarded):
    """An absolute HTTP or HTTPS URL; ``str`` gives its diagnostic form: no user info, no query."""

    __slots__ = ("_shown",)

    def __init__(self, content: str) -> None:
        problem = endpoint_problem(content)
        if problem is not None:
            raise ValueError(problem)
        super().__init__(content)
        parts = urlsplit(content)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        port = "" if parts.port is None else f":{parts.port}"
        query = f"?{MASK}" if parts.query else ""
        self._shown = f"{parts.scheme}://{host}{port}{parts.path}{query}"

    def __str__(self) -> str:
        return self._shown

    def __eq__(self, other: object) -> bool:
        # Two configurations have to be comparable for a reload; the time it takes tells nothing.
        return isinstance(other, EndpointUrl) and self.matches(other._content.encode())

    __hash__ = None  # type: ignore[assignment]

    @property
    def has_query(self) -> bool:
        """Tell whether there is a query, which may be a credential."""
        return "?" in self._content

    @property
    def is_encrypted(self) -> bool:
        """Tell whether it is HTTPS."""
        return self._shown.startswith("https:")

    @property
    def is_loopback(self) -> bool:
        """Tell whether the host is this machine, by name or by address."""
        host = urlsplit(self._content).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


def endpoint_problem(content: str) -> str | None:  # noqa: PLR0911 - one a reason
    """Say why a text is no endpoint URL, in words that hold none of it; None when it is one."""
    if len(content) > _URL_MAX_CHARS:
        return f"is longer than {_URL_MAX_CHARS} characters"
    if not content.isascii() or any(char <= " " or char in '\x7f\\"<>^`{|}' for char in content):
        return "holds characters that a URL must percent-encode"
    if not content.startswith(("http://", "https://")):
        return "does not begin with http:// or https://"
    if "#" in content:
        return "has a fragment (#…)"
    authority = re.split(r"[/?]", content.split("//", 1)[1], maxsplit=1)[0]
    if "@" in authority:
        return "holds user info (…@)"
    try:
        parts = urlsplit(content)
        host, port = parts.hostname or "", parts.port
        named = ipaddress.ip_address(host) if authority.startswith("[") else _HOST.match(host)
    except ValueError:
        return "has a host or port that cannot be read"
    if not named or port == 0:
        return "has a host or port that cannot be read"
    return None


class Secrets(Mapping[str, SecretStr]):
    """Every secret that was loaded, by the configuration path that names its file."""

    __slots__ = ("_by_path", "_endpoints")

    def __init__(
        self, by_path: Mapping[str, SecretStr] | None = None, endpoints: Mapping[str, EndpointUrl] | None = None
    ) -> None:
        self._by_path = dict(by_path or {})
        self._endpoints = dict(endpoints or {})

    def __getitem__(self, path: str) -> SecretStr:
        return self._by_path[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_path)

    def __len__(self) -> int:
        return len(self._by_path)

    def __repr__(self) -> str:
        return f"<Secrets {sorted(self._by_path)}>"

    def forms(self) -> frozenset[str]:
        """Return every text that would give a loaded secret away; for the redactor only."""
        found: set[str] = set()
        for secret in self._by_path.values():
            found |= derived_forms(secret.reveal())
        for endpoint in self._endpoints.values():
            if endpoint.has_query:
                found |= _endpoint_forms(endpoint.reveal())
        return frozenset(found)


def _endpoint_forms(url: str) -> set[str]:
    query = url.split("?", 1)[1]
    texts = {query} | {value for _, value in parse_qsl(query) if len(value) >= _QUERY_VALUE_MIN_CHARS}
    return {form for text in texts if len(text) >= SECRET_MIN_CHARS for form in derived_forms(text)}


def derived_forms(secret: str) -> frozenset[str]:
    """Return every form in which a secret may turn up in an output.

    As it is; as JSON, Python and XML escape it; base64 in both alphabets and at all three positions inside a
    longer text (``Authorization: Basic`` holds it behind a user name); hex; URL-encoded; and the MD5 that the
    login sends, which is as good as the password.

    Bounds: forms shorter than `SECRET_MIN_CHARS` are left out.
    """
    raw = secret.encode()
    forms = {secret, *_escaped(secret), *_base64(raw), *_hex(raw)}
    forms |= {quote(secret, safe=""), quote(secret), quote_plus(secret)}
    forms |= {re.sub(r"%[0-9A-F]{2}", lambda hit: hit[0].lower(), form) for form in tuple(forms) if "%" in form}
    for hashed in {secret, secret[:_LOGIN_PASSWORD_CHARS]}:
        digest = hashlib.md5(hashed.encode(), usedforsecurity=False).hexdigest()
        forms |= {digest, digest.upper(), f"$1${digest}", *_base64(digest.encode()), *_base64(bytes.fromhex(digest))}
    return frozenset(form for form in forms if len(form) >= SECRET_MIN_CHARS)


def _hex(raw: bytes) -> set[str]:
    return {raw.hex(), raw.hex().upper()}


def _escaped(secret: str) -> set[str]:
    once = {
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        ascii(secret)[1:-1],
        repr(secret.encode())[2:-1],
        *_xml(secret),
    }
    # A representation inside a JSON line: its backslashes are doubled, its quotes escaped.
    return once | {json.dumps(form, ensure_ascii=False)[1:-1] for form in once}


def _xml(secret: str) -> set[str]:
    text = secret.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    attribute = text.replace('"', "&quot;")
    return {text, attribute, *(attribute.replace("'", quoted) for quoted in ("&apos;", "&#39;", "&#x27;"))}


def _base64(raw: bytes) -> set[str]:
    forms: set[str] = set()
    for lead in range(3):
        text = base64.b64encode(b"\0" * lead + raw).decode()
        first = math.ceil(lead * 8 / 6)
        last = (lead + len(raw)) * 8 // 6
        for form in (text[first:last], text.replace("+", "-").replace("/", "_")[first:last]):
            forms.add(form)
    whole = base64.b64encode(raw).decode()
    forms |= {whole, whole.replace("+", "-").replace("/", "_")}
    return forms | {form.rstrip("=") for form in forms}
