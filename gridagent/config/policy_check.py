"""What is wrong with the sections ``policy`` and ``roles`` that their types cannot say.

Owns those checks; the loader runs them on decoded sections together with all others, so that one message
lists all problems (Spec: CFG-1), and `gridagent.policy.policy` runs them again before it compiles. May
import only L0. Its invariant: a section without problems compiles, and one with problems never is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import inspect

from gridagent import limits
from gridagent.actions import ACTIONS
from gridagent.authority import Origin
from gridagent.config.policy import (
    METER_CEILINGS,
    PEER_METERS,
    Admission,
    Budget,
    BudgetScope,
    Matrix,
    Meter,
    Pattern,
    PatternVerdict,
    PolicySection,
    RolesSection,
)
from gridagent.errors import ConfigProblem
from gridagent.ids import NIL_UUID, is_canonical_uuid

__all__ = ("ARGUMENT_KINDS", "policy_problems", "roles_problems")

NUMBER_MATCHERS: Final = ("over", "under")
TEXT_MATCHERS: Final = ("longer_than", "contains", "any_of", "none_of")


def policy_problems(section: PolicySection, *, path: str = "policy") -> tuple[ConfigProblem, ...]:
    """List everything wrong with a decoded section.

    Args:
        section: the section as it was decoded.
        path: JSON path of the section, for the messages.
    """
    return (
        *_matrix_problems(section.matrix, f"{path}.matrix"),
        *(
            problem
            for name, pattern in section.patterns.items()
            for problem in _pattern_problems(pattern, f"{path}.patterns.{name}")
        ),
        *(
            problem
            for meter, budgets in section.budgets.items()
            for problem in _budget_problems(meter, budgets, f"{path}.budgets.{meter.value}")
        ),
    )


def _matrix_problems(matrix: Matrix, path: str) -> Iterator[ConfigProblem]:
    for capability, cell in matrix.get(Origin.OBJECT_TEXT, {}).items():
        if cell is not Admission.DENY:
            yield ConfigProblem(
                path=f"{path}.{Origin.OBJECT_TEXT.value}.{capability.value}",
                what="object and script text may never cause anything",
                shape=repr(cell.value),
                mend="remove this cell",
            )


def _budget_problems(meter: Meter, budgets: tuple[Budget, ...], path: str) -> Iterator[ConfigProblem]:
    seen: set[tuple[BudgetScope, int]] = set()
    ceiling = METER_CEILINGS[meter]
    for index, budget in enumerate(budgets):
        here = f"{path}[{index}]"
        if budget.limit > ceiling:
            yield ConfigProblem(
                path=f"{here}.limit",
                what=f"a budget of {meter.value} is over its hard ceiling",
                shape=str(budget.limit),
                mend=f"use at most {ceiling}",
            )
        if budget.per is BudgetScope.PEER and meter not in PEER_METERS:
            yield ConfigProblem(
                path=f"{here}.per",
                what=f"{meter.value} has no receiver to count by",
                shape=repr(budget.per.value),
                mend="use principal, strangers or global",
            )
        if (budget.per, budget.window_s) in seen:
            yield ConfigProblem(
                path=here,
                what=f"two budgets of {meter.value} have the same scope and window",
                shape=f"per {budget.per.value}, {budget.window_s} s",
                mend="keep the smaller one",
            )
        seen.add((budget.per, budget.window_s))


def _pattern_problems(pattern: Pattern, path: str) -> Iterator[ConfigProblem]:
    matchers = [name for name in (*NUMBER_MATCHERS, *TEXT_MATCHERS) if getattr(pattern, name) is not None]
    if pattern.then is PatternVerdict.OFF:
        return
    if len(matchers) != 1:
        yield ConfigProblem(
            path=path,
            what="a pattern has exactly one matcher",
            shape=", ".join(matchers) or "none",
            mend=f"set one of {', '.join((*NUMBER_MATCHERS, *TEXT_MATCHERS))}",
        )
    arguments = ARGUMENT_KINDS.get(pattern.action)
    if arguments is None:
        yield ConfigProblem(
            path=f"{path}.action",
            what="there is no such action",
            shape=f"text of {len(pattern.action)} characters",
            mend=f"use one of {', '.join(ARGUMENT_KINDS)}",
        )
        return
    kind = arguments.get(pattern.argument)
    if kind is None:
        yield ConfigProblem(
            path=f"{path}.argument",
            what=f"{pattern.action} has no such argument to test",
            shape=f"text of {len(pattern.argument)} characters",
            mend=f"use one of {', '.join(arguments) or 'another action: this one has none'}",
        )
        return
    for name in matchers:
        if (name in NUMBER_MATCHERS) != (kind == "number"):
            yield ConfigProblem(
                path=f"{path}.{name}",
                what=f"{pattern.argument} of {pattern.action} is {kind}",
                shape=f"a matcher for {'numbers' if name in NUMBER_MATCHERS else 'text'}",
                mend=f"use one of {', '.join(NUMBER_MATCHERS if kind == 'number' else TEXT_MATCHERS)}",
            )


def roles_problems(section: RolesSection, *, path: str = "roles") -> tuple[ConfigProblem, ...]:
    """List everything wrong with a decoded section.

    Args:
        section: the section as it was decoded.
        path: JSON path of the section, for the messages.
    """
    return tuple(_roles_problems(section, path))


def _roles_problems(section: RolesSection, path: str) -> Iterator[ConfigProblem]:
    seen: dict[str, str] = {}
    for role, members in (("owners", section.owners), ("trusted", section.trusted)):
        for index, member in enumerate(members):
            here = f"{path}.{role}[{index}]"
            if not is_canonical_uuid(member):
                yield ConfigProblem(path=here, what=_why_no_avatar(member), shape=_shape(member), mend=_MEND_AVATAR)
            elif member in seen:
                yield ConfigProblem(
                    path=here,
                    what=f"this avatar stands at {seen[member]} already",
                    shape=_shape(member),
                    mend="list each avatar once, with its highest role",
                )
            seen.setdefault(member, here)
    if len(section.owners) + len(section.trusted) > limits.AUTHORISED_AVATARS_MAX:
        yield ConfigProblem(
            path=path,
            what="there are too many authorised avatars",
            shape=str(len(section.owners) + len(section.trusted)),
            mend=f"list at most {limits.AUTHORISED_AVATARS_MAX}",
        )


_MEND_AVATAR: Final = "write the avatar's UUID in lower case with hyphens; names are never accepted"


def _why_no_avatar(text: str) -> str:
    if "*" in text:
        return "a wildcard would authorise everybody"
    if text == NIL_UUID:
        return "the nil UUID is nobody"
    if is_canonical_uuid(text.lower()):
        return "an avatar UUID is written in lower case"
    return "this is not an avatar UUID"


def _shape(text: str) -> str:
    return f"text of {len(text)} characters"


# --- which arguments an action has ----------------------------------------------------------------


def _argument_kind(kind: inspect.Type) -> str | None:
    match kind:
        case inspect.IntType() | inspect.FloatType():
            return "number"
        case inspect.StrType() | inspect.EnumType() | inspect.VarTupleType():
            return "text"
        case inspect.Metadata():
            return _argument_kind(kind.type)
        case inspect.UnionType():
            return next((found for part in kind.types if (found := _argument_kind(part)) is not None), None)
        case _:
            return None


def _argument_kinds() -> Iterator[tuple[str, dict[str, str]]]:
    for action in ACTIONS:
        info = inspect.type_info(action)
        assert isinstance(info, inspect.StructType)  # noqa: S101 - every action is a struct
        kinds = ((field.name, _argument_kind(field.type)) for field in info.fields)
        yield str(info.tag), {name: kind for name, kind in kinds if kind is not None}


ARGUMENT_KINDS: Final[Mapping[str, Mapping[str, str]]] = dict(_argument_kinds())
"""For each action, the arguments that a pattern can test, each ``number`` or ``text``."""
