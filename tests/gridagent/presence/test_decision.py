"""The words of a decision."""

from pathlib import Path

from gridagent.presence.decision import AttentionCode

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "presence.md"


def test_a_code_answers_or_is_quiet():
    """Spec: PRS-1 — the prefix is the promise that status lines and metrics rely on."""
    answering = {code.value for code in AttentionCode if code.answers}
    assert answering == {"addressed", "addressed:reply", "addressed:one_on_one", "ambient"}
    assert all(code.value.startswith("quiet:") for code in AttentionCode if not code.answers)


def test_the_contract_page_explains_every_code():
    """Spec: OPS-8 — none is missing from the page, and the page promises none that is not there."""
    rows = [line.split("`")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    codes = {code.value for code in AttentionCode}
    assert codes <= set(rows)
    assert {row for row in rows if row.startswith("quiet:")} <= codes
