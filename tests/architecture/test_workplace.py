"""No tracked file names a place on the machine, or an address of the network, it was written on."""

from __future__ import annotations

import ipaddress
import re

import pytest

from tests.architecture.source_tree import ROOT, report, tracked_files

PLACE = re.compile(r"(?<![\w.~/-])/(?:work|home|root|opt|tmp|mnt|srv|Users|private|workspace)/[\w.-]+|\.\./shared/")
URL = re.compile(r"https?://([A-Za-z0-9.\[\]:_-]+)")
ADDRESS = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")

HOSTS = frozenset(
    {
        # public references that documents and comments may point to
        *(
            "docs.astral.sh",
            "pytest-trio.readthedocs.io",
            "hypothesis.readthedocs.io",
            "trio.readthedocs.io",
            "docs.python.org",
            "docs.pytest.org",
            "peps.python.org",
        ),
        *("www.apache.org", "json-schema.org", "www.w3.org", "wiki.secondlife.com", "opensimulator.org"),
        *("secondlife.com", "www.sqlite.org", "mermaid.js.org"),
        # endpoints the product is configured with by default
        *("api.openai.com", "api.anthropic.com", "login.agni.lindenlab.com", "login.aditi.lindenlab.com"),
        *("login.osgrid.org", "grid.kitely.com"),
    }
)
DOCUMENTATION = ipaddress.ip_network("192.0.2.0/24")
PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
RESERVED = (".example", ".example.org", ".example.com", ".example.net", ".invalid", ".test", ".localhost")
EXEMPT = frozenset(
    {
        "tests/architecture/test_workplace.py",
        "tests/live_grid/test_addresses.py",  # hostile addresses are what it is about
        "tests/live_grid/io/test_trust.py",  # whose addresses are trusted is what it is about
    }
)


def _harmless_host(host: str) -> bool:
    host = host.lower().rstrip(".:").rsplit("@", 1)[-1]
    bare = host if host.startswith("[") else host.partition(":")[0]
    if bare in HOSTS or bare == "localhost" or f".{bare}".endswith(RESERVED):
        return True
    return _loopback(bare.strip("[]")) or "." not in bare.strip("[]:")


def _loopback(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified or address.is_link_local or address in DOCUMENTATION


def _harmless_address(text: str) -> bool:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return True
    return not any(address in ipaddress.ip_network(block) for block in PRIVATE)


def places(name: str, text: str) -> list[str]:
    """Find paths of a machine, hosts off the list, and addresses that are not for documentation."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        found += [f"{name}:{number}: place {match[0]}" for match in PLACE.finditer(line)]
        found += [f"{name}:{number}: host {host}" for host in URL.findall(line) if not _harmless_host(host)]
        found += [f"{name}:{number}: address {text}" for text in ADDRESS.findall(line) if not _harmless_address(text)]
    return found


def test_no_tracked_file_names_a_place() -> None:
    """Sources, documents and locks hold on any machine. Spec: OPS-7."""
    findings = []
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        raw = path.read_bytes()
        if b"\0" in raw or path.name == "LICENSE" or name in EXEMPT:
            continue
        findings += places(name, raw.decode("utf-8", "replace"))
    assert not report(findings)


@pytest.mark.parametrize(
    "line",
    [
        "see /work/main/x.py",
        "open('/tmp/venv/bin')",
        "../shared/design/spec.md",
        "http://registry.somewhere.internal/simple",
        "https://192.168.3.4:8080/x",
        "host = '10.1.2.3'",
    ],
)
def test_the_rule_sees_each_place(line: str) -> None:
    """Paths, hosts and addresses of a machine are found."""
    assert len(set(places("x", line))) >= 1


@pytest.mark.parametrize(
    "line",
    [
        "#!/usr/bin/env bash",
        "http://127.0.0.1:8080/agui and http://[::1]/ and http://localhost:9",
        "https://grid.example.org/login and 192.0.2.7",
        "f'http://{host}/x' and version 1.2.3.4a",
        "https://wiki.secondlife.com/wiki/Circuit",
        "make PYTHON=/path/to/python3",
    ],
)
def test_the_rule_lets_public_references_pass(line: str) -> None:
    """Loopback, documentation names and public references are fine."""
    assert places("x", line) == []
