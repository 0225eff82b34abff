"""One place mints authority, and nothing else can make a handle."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.source_tree import Module, dotted, imported_names, modules_of_packages, report, sample

MINT = "gridagent/policy/gateway.py"
PROOF = "gridagent/policy/authorized.py"
HANDLE = "gridagent.policy.authorized.AuthorizedAction"
NAMES = frozenset({HANDLE, "gridagent.policy.AuthorizedAction"})


def _is_handle(node: ast.AST, names: dict[str, str]) -> bool:
    return dotted(node, names) in NAMES


def mints(module: Module) -> list[str]:
    """Find every call that could make a handle."""
    if module.path == PROOF:
        return []
    names = imported_names(module.tree)
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            made = _is_handle(node.func, names)
            made |= (
                isinstance(node.func, ast.Attribute)
                and node.func.attr == "__new__"
                and (_is_handle(node.func.value, names) or any(_is_handle(argument, names) for argument in node.args))
            )
            if made:
                found.append(module.finding(node, "mints an AuthorizedAction"))
    return found


def key_holders(module: Module) -> list[str]:
    """Find who names the private key of the mint."""
    return [
        module.finding(node, "holds the mint's key")
        for node in ast.walk(module.tree)
        if (isinstance(node, ast.Name) and node.id == "_MINT")
        or (isinstance(node, ast.Attribute) and node.attr == "_MINT")
        or (isinstance(node, ast.alias) and node.name == "_MINT")
    ]


def test_authority_is_minted_at_one_place() -> None:
    """Exactly one call in the packages makes a handle, and it stands in the gateway. Spec: POL-1, POL-2."""
    found = [finding for module in modules_of_packages() for finding in mints(module)]
    assert [finding.partition(":")[0] for finding in found] == [MINT], report(found)


def test_nobody_else_holds_the_key() -> None:
    """The mint's key is named by the proof and the gateway only. Spec: POL-2."""
    others = [module for module in modules_of_packages() if module.path not in {MINT, PROOF}]
    assert not report(finding for module in others for finding in key_holders(module))


@pytest.mark.parametrize(
    "source",
    [
        "from gridagent.policy.authorized import AuthorizedAction as A\nA(None)",
        "from gridagent.policy import authorized\nauthorized.AuthorizedAction()",
        "import gridagent.policy.authorized as p\nobject.__new__(p.AuthorizedAction)",
        "from gridagent.policy import AuthorizedAction\nAuthorizedAction.__new__(AuthorizedAction)",
    ],
)
def test_the_rule_sees_every_way_to_mint(source: str) -> None:
    """Constructing, under any alias, and going round the constructor are found."""
    assert len(mints(sample(source))) == 1


def test_the_rule_sees_a_stolen_key() -> None:
    """Importing the key or reading it off the module is found."""
    assert key_holders(sample("from gridagent.policy.authorized import _MINT"))
    assert key_holders(sample("from gridagent.policy import authorized\nauthorized._MINT"))
