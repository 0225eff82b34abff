"""One place mints authority, nothing else can make a handle, and each backend redeems at one place."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.source_tree import Module, dotted, modules_of_packages, report, sample

MINT = "gridagent/policy/gateway.py"
PROOF = "gridagent/policy/authorized.py"
HANDLE = "gridagent.policy.authorized.AuthorizedAction"
REDEEMERS: dict[str, str] = {
    # path → why a handle is used up there, once
    "gridagent/session/actor.py": "gives a backend its `redeem`, bound to the generation and the clock",
    "gridagent/grid/puppet.py": "the backend that tests drive by hand",
    "gridagent/simulation/hostile.py": "the adversary of a simulation, which tells the account of each use",
    "gridagent/grid/simulated/backend.py": "the simulated backend's one `apply`",
    "live_grid/backend/backend.py": "the live backend's one `apply`",
    "live_grid/check/visit.py": "gives the backend that a check leads by hand its `redeem`",
}
NAMES = frozenset({HANDLE, "gridagent.policy.AuthorizedAction"})


def _is_handle(node: ast.AST, names: dict[str, str]) -> bool:
    return dotted(node, names) in NAMES


def mints(module: Module) -> list[str]:
    """Find every call that could make a handle."""
    if module.path == PROOF:
        return []
    names = module.names
    found = []
    for node in module.nodes:
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
        for node in module.nodes
        if (isinstance(node, ast.Name) and node.id == "_MINT")
        or (isinstance(node, ast.Attribute) and node.attr == "_MINT")
        or (isinstance(node, ast.alias) and node.name == "_MINT")
    ]


def redeems(module: Module) -> list[str]:
    """Find every call that uses a handle up."""
    return [
        module.finding(node, "redeems a handle")
        for node in module.nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2].lstrip("_") == "redeem"
    ]


def test_authority_is_minted_at_one_place() -> None:
    """Exactly one call in the packages makes a handle, and it stands in the gateway. Spec: POL-1, POL-2."""
    found = [finding for module in modules_of_packages() for finding in mints(module)]
    assert [finding.partition(":")[0] for finding in found] == [MINT], report(found)


def test_nobody_else_holds_the_key() -> None:
    """The mint's key is named by the proof and the gateway only. Spec: POL-2."""
    others = [module for module in modules_of_packages() if module.path not in {MINT, PROOF}]
    assert not report(finding for module in others for finding in key_holders(module))


def test_each_backend_redeems_at_one_place() -> None:
    """A handle is used up at one call of each backend and nowhere else outside the policy. Spec: POL-1, POL-2."""
    outside = [module for module in modules_of_packages() if not module.path.startswith("gridagent/policy/")]
    found = [finding for module in outside for finding in redeems(module)]
    assert sorted(finding.partition(":")[0] for finding in found) == sorted(REDEEMERS), report(found)


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


def test_the_rule_sees_a_second_redeem() -> None:
    """Calling the port's function or the gateway's own is found, and so is a second call."""
    assert len(redeems(sample("def f(self, h): self._redeem(h); redeem(h); gateway.redeem(h)"))) == 3
