"""Typed lines."""

from __future__ import annotations

import io
import json

import pytest
import trio

from gridagent import open_service
from gridagent.cli.keyboard import Keyboard
from gridagent.cli.terminal import Input, Output
from gridagent.cli.view import Look, View
from gridagent.controls import ShutDown
from gridagent.observations import AgentState
from gridagent.runtime.deterministic import simulated_ports


async def typed(text: str, *, scenario: str = "quiet-room", config: object = None, stop_first: bool = False) -> str:
    """Type lines into a run and return what was shown until 20 seconds later."""
    out, left = io.StringIO(), []
    async with (
        trio.open_nursery() as nursery,
        open_service(config, scenario=scenario, ports=simulated_ports(1)) as service,
    ):
        handles = [service.avatar(key) for key in service.avatars]
        view = View(handles, look=Look(), roles={}, greeting=(), out=Output(out), stderr=io.StringIO(), ends_at=None)
        await nursery.start(view.run)
        if stop_first:
            await handles[0].control(ShutDown())
            await handles[0].wait_agent(AgentState.STOPPED)
        keyboard = Keyboard(Input(io.StringIO(text)), handles, view=view, leave=lambda: left.append("left"))
        await keyboard.run()
        await trio.sleep(20)
    return out.getvalue() + "".join(left)


async def test_speech_waits_for_the_avatar_to_be_in_the_world(autojump_clock) -> None:
    """What is piped in at the start is said. Spec: OPS-1."""
    assert "Robin Resident says: hi" in await typed("say hi\n")


async def test_controls_and_their_answers_are_shown(autojump_clock) -> None:
    """Hold, a refusal while held, release: each with its answer. Spec: POL-12, SUP-8."""
    text = await typed("say hi\nhold\nsay no\nrelease\nsay yes\n")
    assert "HELD" in text
    assert "because the kill switch is on" in text
    assert "says: yes" in text
    assert "says: no" not in text


async def test_questions_are_answered_here(autojump_clock) -> None:
    """Status, approvals and help need no control."""
    text = await typed("status\napprovals\nhelp\n")
    assert "robin: starting" in text
    assert "nothing waits for an answer" in text
    assert "say TEXT" in text


async def test_quit_leaves(autojump_clock) -> None:
    """So do exit and stop: in the foreground they are the same."""
    for word in ("quit", "exit", "stop"):
        assert (await typed(f"{word}\n")).endswith("left")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hello robin", "to speak, type: say hello robin"),
        ("@wren say hi", "there is no avatar 'wren' here; there are: robin"),
        ("act {", "is not JSON"),
        ("reload /missing/config.json", "does not exist"),
        ("x" * 9_000, "there is no command"),
        ("\x1b[2J", "there is no command"),
    ],
)
async def test_what_is_wrong_is_said_and_the_run_goes_on(line, words, autojump_clock) -> None:
    """A mistake is one line, and the next line is obeyed. Spec: OPS-1, OPS-7."""
    text = await typed(f"{line}\nsay still here\n")
    assert words in text
    assert "says: still here" in text
    assert "\x1b" not in text


async def test_a_line_that_is_too_long_is_said_to_be(autojump_clock) -> None:
    """A line over the bound is refused whole."""

    class Long:
        async def __aiter__(self):
            yield None

    async with open_service(scenario="quiet-room", ports=simulated_ports(1)) as service:
        out = io.StringIO()
        view = View(
            [service.avatar()],
            look=Look(),
            roles={},
            greeting=(),
            out=Output(out),
            stderr=io.StringIO(),
            ends_at=None,
        )
        await Keyboard(Long(), [service.avatar()], view=view, leave=lambda: None).run()
    assert "that line is too long" in out.getvalue()


async def test_an_avatar_that_stopped_is_said_to_have(autojump_clock) -> None:
    """A control that comes too late is not silently lost."""
    assert "robin has stopped" in await typed("hold\n", stop_first=True)


async def test_several_avatars_are_told_by_name(autojump_clock, tmp_path) -> None:
    """Without a name only the kill switch and questions are for all. Spec: POL-12, SUP-11."""
    spot = {"region": "Room", "x": 10, "y": 10}
    people = [{"name": "Robin Resident", "start": spot}, {"name": "Wren Resident", "start": spot}]
    path = tmp_path / "two.json"
    path.write_text(json.dumps({"name": "two", "regions": [{"name": "Room"}], "avatars": people}), encoding="utf-8")
    config = {
        "avatars": {"robin": {"first_name": "Robin"}, "wren": {"first_name": "Wren"}},
        "session": {"login_stagger_s": 0},
    }
    text = await typed("say hi\n@wren say ho\n", scenario=str(path), config=config)
    assert "say whom you mean, as in: @robin say hello (there are: robin, wren)" in text
    assert "Wren Resident says: ho" in text
    assert "says: hi" not in text
    text = await typed("hold\nstatus\n", scenario=str(path), config=config)
    assert text.count("HELD: the avatar hears") == 2
    assert "wren: starting" in text


async def test_waiting_approvals_are_listed_and_answered(autojump_clock) -> None:
    """An operator sees what would be done and says no. Spec: POL-7."""
    config = {
        "roles": {"owners": ["5eed0000-0000-4000-8000-000000000001"]},
        "policy": {"preset": "shopkeeper", "approvals": {"move": "required"}},
    }
    out = io.StringIO()
    async with (
        trio.open_nursery() as nursery,
        open_service(config, scenario="plaza", ports=simulated_ports(1)) as service,
    ):
        handle = service.avatar()
        view = View([handle], look=Look(), roles={}, greeting=(), out=Output(out), stderr=io.StringIO(), ends_at=None)
        await nursery.start(view.run)
        while not (waiting := handle.status().gateway.approvals):  # noqa: ASYNC110 - virtual time
            await trio.sleep(5)
        lines = f"approvals\ndeny {waiting[0].approval_id}\napprovals\n"
        await Keyboard(Input(io.StringIO(lines)), [handle], view=view, leave=lambda: None).run()
    assert f"{waiting[0].approval_id}: walk_to" in out.getvalue()
    assert "nothing waits for an answer" in out.getvalue()
