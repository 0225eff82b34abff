"""Claims about what the thinker asks for."""

from gridagent.actions import ACTIONS
from gridagent.thinking.words import AskGrid, AskMemory, AskSql, KeepFact, Think


def test_no_errand_can_carry_an_action():
    """Spec: MND-18 — what answers errands is handed questions and facts, and nothing that could be performed."""
    for kind in (Think, AskGrid, AskMemory, AskSql, KeepFact):
        names = " ".join(map(str, kind.__annotations__.values()))
        assert not any(action.__name__ in names for action in ACTIONS), kind
