"""The policy in force: a configured section laid over its preset, compiled into look-ups.

Owns merging and compiling; decides nothing and reads no file. Built by the composition root for each
avatar and replaced whole when the configuration is reloaded. Its invariant: it never changes, and its
``version`` is a hash of everything in it, so two policies of one version decide alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from typing import Final, TypeAlias

import msgspec

from gridagent.actions import Action, Capability
from gridagent.authority import Origin, Provenance, Role
from gridagent.config.policy import (
    Admission,
    ApprovalNeed,
    Approvers,
    Budget,
    Meter,
    PatternVerdict,
    PolicySection,
    Preset,
    RolesSection,
    TaintVerdict,
)
from gridagent.config.policy_check import policy_problems, roles_problems
from gridagent.errors import ConfigError
from gridagent.policy.patterns import CompiledPattern
from gridagent.policy.presets import BASE, PRESETS
from gridagent.policy.roles import RoleBook
from gridagent.policy.verbs import VERBS

__all__ = ("ADMITTED_RANK", "Cell", "Policy", "merge", "preset_section")

ADMITTED_RANK: Final[Mapping[Admission, int]] = {
    Admission.ANYONE: Role.STRANGER.rank,
    Admission.TRUSTED: Role.TRUSTED.rank,
    Admission.OWNER: Role.OWNER.rank,
    Admission.DENY: Role.OPERATOR.rank + 1,
}
"""The least rank each cell lets through; no rank reaches ``deny``, and an object's never reaches any."""

Cell: TypeAlias = tuple[int, str]
"""Least rank, and the rule's name."""


@cache
def preset_section(preset: Preset) -> PolicySection:
    """Return a preset as the section an operator could have written, over ``BASE``."""
    decode = msgspec.json.Decoder(PolicySection).decode
    return merge(decode(BASE), decode(PRESETS[preset]))


def merge(base: PolicySection, over: PolicySection) -> PolicySection:
    """Lay one section over another: cell by cell, pattern by pattern, meter by meter.

    Scalars (``preset``, ``approvers``, ``dry_run``, times) are those of ``over``.
    """
    matrix = {
        origin: {**base.matrix.get(origin, {}), **over.matrix.get(origin, {})}
        for origin in Origin
        if origin in base.matrix or origin in over.matrix
    }
    return msgspec.structs.replace(
        over,
        matrix=matrix,
        tainted={**base.tainted, **over.tainted},
        target_from={**base.target_from, **over.target_from},
        approvals={**base.approvals, **over.approvals},
        patterns={**base.patterns, **over.patterns},
        budgets={**base.budgets, **over.budgets},
    )


class Policy:
    """One policy in force.

    Args:
        section: what the operator wrote; its preset is laid under it.
        roles: who is who.

    Raises:
        ConfigError: a section has problems; all of them are listed.
    """

    __slots__ = (
        "approval_ttl_s",
        "approvers",
        "asks",
        "budgets",
        "cells",
        "dry_run",
        "handle_ttl_s",
        "patterns",
        "roles",
        "section",
        "tainted",
        "target_from",
        "version",
    )

    def __init__(self, section: PolicySection | None = None, roles: RolesSection | None = None) -> None:
        written = PolicySection() if section is None else section
        known = RolesSection() if roles is None else roles
        if problems := (*policy_problems(written), *roles_problems(known)):
            raise ConfigError(problems)
        full = merge(preset_section(written.preset), written)
        self.section: PolicySection = full
        """Everything that holds, merged; what `check-config` and the reference show."""
        self.roles = RoleBook(owners=known.owners, trusted=known.trusted)
        self.version: str = sha256(msgspec.json.encode((full, known), order="sorted")).hexdigest()[:16]
        self.cells: dict[Origin, dict[Capability, Cell]] = _cells(full)
        self.tainted: dict[Capability, TaintVerdict] = {
            capability: verdict for capability, verdict in full.tainted.items() if verdict is not TaintVerdict.ALLOW
        }
        self.target_from: dict[Capability, frozenset[Provenance]] = {
            capability: frozenset(sources) for capability, sources in full.target_from.items()
        }
        self.asks: dict[Capability, str] = {
            capability: f"approval.{capability.value}"
            for capability, need in full.approvals.items()
            if need is ApprovalNeed.REQUIRED
        }
        """Capabilities that need a person's yes, and the rule's name."""
        self.patterns: dict[type[Action], tuple[CompiledPattern, ...]] = _patterns(full)
        self.budgets: dict[Meter, tuple[Budget, ...]] = dict(full.budgets)
        self.approvers: Approvers = full.approvers
        self.dry_run: bool = full.dry_run
        self.handle_ttl_s: float = full.handle_ttl_s
        self.approval_ttl_s: float = full.approval_ttl_s

    def admits(self, origin: Origin, capability: Capability, role: Role) -> bool:
        """Tell whether a role gets through a door for a capability; what a tool list is cut down by."""
        return role.rank >= self.cells[origin][capability][0]


def _cells(section: PolicySection) -> dict[Origin, dict[Capability, Cell]]:
    """Return the whole matrix, one cell for every pair; object text is ``deny`` whatever is written."""
    return {
        origin: {
            capability: (
                ADMITTED_RANK[
                    Admission.DENY
                    if origin is Origin.OBJECT_TEXT
                    else section.matrix.get(origin, {}).get(capability, Admission.DENY)
                ],
                f"matrix.{origin.value}.{capability.value}",
            )
            for capability in Capability
        }
        for origin in Origin
    }


def _patterns(section: PolicySection) -> dict[type[Action], tuple[CompiledPattern, ...]]:
    """Return the patterns of each action, those that deny first."""
    kinds = {verb.name: kind for kind, verb in VERBS.items()}
    found: dict[type[Action], tuple[CompiledPattern, ...]] = {}
    for name, pattern in sorted(section.patterns.items(), key=lambda item: item[1].then is not PatternVerdict.DENY):
        if pattern.then is not PatternVerdict.OFF:
            kind = kinds[pattern.action]
            found[kind] = (*found.get(kind, ()), CompiledPattern(name, pattern))
    return found
