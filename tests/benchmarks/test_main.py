"""The benchmark runner prints figures and tells when a ratio got worse."""

from __future__ import annotations

import json

import pytest

from benchmarks import Figure, Kept, complaint, kept
from benchmarks import __main__ as runner

FAST = {"name": "hop", "value": 100.0, "unit": "events/s", "ratio": 2.0, "of": "a bare loop", "extra": 1}
SMALL = {"name": "size", "value": 3, "unit": "KiB", "ratio": 0.5, "of": "a dict", "goal": 4}
BARE = {"name": "seen", "value": 3, "unit": "schedules"}


@pytest.fixture
def benches(monkeypatch, tmp_path):
    """Two benchmarks with the figures of a list that the test may change."""
    figures = {"channels": [FAST, BARE], "memory": [SMALL]}
    monkeypatch.setattr(runner, "BASELINE", tmp_path / "baseline.json")
    monkeypatch.setattr(runner, "subjects", lambda: sorted(figures))
    monkeypatch.setattr(runner, "measure", lambda subject: iter(figures[subject]))
    return figures


def test_each_figure_is_one_json_line(benches, capsys) -> None:
    """With --json nothing but JSON is printed, keys of one's own included."""
    assert runner.main(["--json"]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [FAST, BARE, SMALL]
    assert runner.main(["memory"]) == 0
    assert "0.5 of a dict  (goal 4)" in capsys.readouterr().out


def test_an_unknown_name_is_a_usage_error(benches, capsys) -> None:
    """The message says which names there are."""
    with pytest.raises(SystemExit) as left:
        runner.main(["nothing"])
    assert left.value.code == 2
    assert "channels, memory" in capsys.readouterr().err


def test_a_new_ratio_must_be_committed_and_then_holds(benches) -> None:
    """The check fails before the ratios are committed and passes after."""
    assert runner.main(["--check"]) == 1
    assert runner.main(["--update"]) == 0
    assert runner.main(["--check"]) == 0
    kept_now = json.loads(runner.BASELINE.read_text(encoding="utf-8"))
    assert kept_now["channels"] == {"hop": {"ratio": 2.0, "of": "a bare loop", "better": "higher"}}


def test_a_worse_ratio_fails_in_its_own_direction(benches, capsys) -> None:
    """Less is worse for a rate, more is worse for a size, and either is fine within 25 %."""
    runner.main(["--update"])
    benches["channels"] = [FAST | {"ratio": 1.65}, BARE]
    benches["memory"] = [SMALL | {"ratio": 0.62}]
    assert runner.main(["--check"]) == 0
    benches["channels"] = [FAST | {"ratio": 1.5}, BARE]
    assert runner.main(["--check", "channels"]) == 1
    assert "hop: ratio 1.5 to a bare loop, was 2: 33% worse" in capsys.readouterr().err
    benches["memory"] = [SMALL | {"ratio": 0.7}]
    assert runner.main(["--check", "memory"]) == 1


def test_a_busy_moment_is_forgiven(benches) -> None:
    """A figure that is good on one of three tries passes, also when another was bad on that try."""
    slow = FAST | {"name": "slow"}
    benches["channels"] = [FAST, slow]
    runner.main(["--update"])
    tries = iter([[FAST | {"ratio": 1.0}, slow], [FAST, slow | {"ratio": 1.0}]])
    benches["channels"] = _Fresh(lambda: next(tries))
    assert runner.main(["--check", "channels"]) == 0


def test_the_baseline_keeps_the_middle_of_three(benches) -> None:
    """One lucky or unlucky run does not become what is asked for."""
    ratios = iter([9.0, 2.0, 3.0])
    benches["channels"] = _Fresh(lambda: [FAST | {"ratio": next(ratios)}])
    runner.main(["--update", "channels"])
    assert runner.read_baseline()["channels"]["hop"].ratio == 3.0


def test_figures_and_benchmarks_that_vanish_are_found(benches) -> None:
    """A benchmark cannot be dropped from the check by deleting it."""
    runner.main(["--update"])
    benches["channels"] = [BARE]
    assert runner.main(["--check", "channels"]) == 1
    del benches["memory"]
    assert any("no such benchmark" in said for said in runner.check([]))


def test_complaints_name_what_is_wrong() -> None:
    """A lost ratio and a lost figure have sentences of their own; figures without ratios are not kept."""
    before = Kept(ratio=1.0, of="x", better="lower")
    figure = Figure(name="a", value=1, unit="ms")
    assert "lost its ratio" in complaint(before, figure, "a")
    assert "no benchmark yields it" in complaint(before, None, "a")
    assert complaint(None, figure, "a") == ""
    assert kept(figure) is None
    assert kept(Figure(name="a", value=1, unit="ms", ratio=2, better="higher")).better == "higher"


class _Fresh:
    """A list of figures that is measured anew each time it is read."""

    def __init__(self, read) -> None:
        self._read = read

    def __iter__(self):
        return iter(self._read())
