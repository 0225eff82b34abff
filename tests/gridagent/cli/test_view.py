"""What `run` shows."""

from __future__ import annotations

import io
import json

import trio

from gridagent import open_service
from gridagent.cli import view as view_module
from gridagent.cli.terminal import CLOSE_SCREEN, OPEN_SCREEN, Output
from gridagent.cli.view import Look, View, observation_line
from gridagent.cli.wording import Tone
from gridagent.controls import SayAsOperator
from gridagent.observations import AgentState, Observation, ReplyComposed
from gridagent.runtime.deterministic import simulated_ports


class Shown:
    """A view over a service, with its output in memory."""

    def __init__(self) -> None:
        self.out = io.StringIO()
        self.err = io.StringIO()

    async def run(self, look: Look, *, text: str = "hello", config: object = None, for_s: float = 5.0) -> None:
        """Show a short life in which one thing is said."""
        async with (
            trio.open_nursery() as nursery,
            open_service(config, scenario="quiet-room", ports=simulated_ports(1)) as service,
        ):
            view = View(
                [service.avatar(key) for key in service.avatars],
                look=look,
                roles={},
                greeting=["gridagent 9.9: Robin", "type 'help'"],
                out=Output(self.out),
                stderr=self.err,
                ends_at=trio.current_time() + 100,
            )
            await nursery.start(view.run)
            avatar = service.avatar()
            await avatar.wait_agent(AgentState.RUNNING)
            await avatar.control(SayAsOperator(text=text))
            await view.say(Tone.STATE, "a line of the command's own")
            view.line_was_typed()
            await trio.sleep(for_s)


async def test_json_is_one_observation_a_line_and_nothing_else(autojump_clock) -> None:
    """Every line is an observation, from the first on; what the command says goes elsewhere. Spec: OPS-1."""
    shown = Shown()
    await shown.run(Look(json=True))
    lines = [json.loads(line) for line in shown.out.getvalue().splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert {"seq", "avatar", "generation", "at", "body"} == set(lines[0])
    assert lines[-1]["body"] == {"kind": "agent_state", "state": "stopped", "was": "stopping", "code": ""}
    assert shown.err.getvalue() == "gridagent: a line of the command's own\n"


async def test_lines_begin_with_how_to_go_on_and_tell_the_story(autojump_clock) -> None:
    """The greeting comes first, then what happens. Spec: OPS-1."""
    shown = Shown()
    await shown.run(Look())
    text = shown.out.getvalue()
    assert text.startswith("gridagent 9.9: Robin\ntype 'help'\n")
    for words in (
        "the avatar is running",
        "Robin Resident says: hello",
        "proved by own echo",
        "a line of the command's",
    ):
        assert words in text, words


async def test_hostile_words_reach_no_terminal(autojump_clock) -> None:
    """What is said in the world, in every form of output. Spec: OPS-7. Fault: 17."""
    evil = "\x1b]52;c;eA==\a\x1b[2J\u202e\x9b31mhello"
    for look in (Look(), Look(json=True)):
        shown = Shown()
        await shown.run(look, text=evil)
        text = shown.out.getvalue()
        assert "hello" in text
        assert all(char.isprintable() or char == "\n" for char in text)


async def test_a_picture_is_drawn_and_the_terminal_is_as_it_was(autojump_clock, monkeypatch) -> None:
    """The other screen is opened once and closed at the end; the last state stays to be read. Spec: OPS-7."""
    sizes = iter([(80, 24), (80, 24)])
    monkeypatch.setattr(
        view_module.shutil, "get_terminal_size", lambda: view_module.os.terminal_size(next(sizes, (100, 30)))
    )
    shown = Shown()
    await shown.run(Look(screen=True))
    text = shown.out.getvalue()
    assert text.count(OPEN_SCREEN) == text.count(CLOSE_SCREEN) == 1
    assert "near robin" in text
    assert "a line of the command's own" in text
    after = text.partition(CLOSE_SCREEN)[2]
    assert after.startswith("robin: stopped")


async def test_a_picture_that_is_cut_off_restores_the_terminal(autojump_clock) -> None:
    """Cancellation and the quick way out close the screen, once. Spec: OPS-7."""
    out = io.StringIO()
    async with open_service(scenario="quiet-room", ports=simulated_ports(1)) as service:
        view = View(
            [service.avatar()],
            look=Look(screen=True),
            roles={},
            greeting=["title"],
            out=Output(out),
            stderr=io.StringIO(),
            ends_at=None,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(view.run)
            await trio.sleep(1)
            view.close()
            view.close()
            nursery.cancel_scope.cancel()
    assert out.getvalue().count(CLOSE_SCREEN) == 1


async def test_a_lagging_view_says_so(autojump_clock) -> None:
    """What the view missed is a line in it; JSON lines have a gap in seq. Spec: BND-3."""
    shown = Shown()
    await shown.run(Look(), config={"queues": {"observables": 1}})
    assert "too many for this view" in shown.out.getvalue()


def test_an_observation_that_is_no_text_is_named() -> None:
    """Half a character cannot end the output."""
    body = ReplyComposed(correlation="c", text="\ud800")
    line = observation_line(Observation(seq=4, avatar="robin", generation=1, at=1.0, body=body))
    assert json.loads(line) == {"seq": 4, "avatar": "robin", "omitted": "reply"}
