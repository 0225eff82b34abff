"""The live view of a terminal: one picture, drawn again when something changed.

Owns the drawing of a `Scene` into exactly as many lines as the terminal has, and the few control
sequences around it; reads no key and knows no service. rich is imported here, on use. Typed lines are
the terminal's own: the picture leaves the prompt's line alone, so what is being typed is never torn.

Invariant: apart from the sequences written here, nothing but printable characters reaches the terminal.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Final

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from gridagent.cli.scene import Scene, summary
from gridagent.cli.wording import Tone, seconds_in_words

__all__ = ("draw", "repaint")

PROMPT: Final = "> "
_SMALLEST: Final = (40, 12)
_SIDE_WIDTH: Final = 38
_HELP: Final = "say TEXT · hold · release · pause · resume · reconnect · status · help · quit"

_COLOURS: Final[Mapping[Tone, str]] = {
    Tone.HEARD: "cyan",
    Tone.SPOKE: "bold green",
    Tone.DECIDED: "green",
    Tone.REFUSED: "red",
    Tone.ASKS: "bold yellow",
    Tone.DONE: "green",
    Tone.DOUBT: "bold magenta",
    Tone.STATE: "bold",
    Tone.WORLD: "blue",
    Tone.NOTE: "dim",
    Tone.HELP: "default",
}


def draw(scene: Scene, *, title: str, left_s: float | None, width: int, height: int, colour: bool = True) -> list[str]:
    """Draw the picture.

    Args:
        scene: what there is to see.
        title: first line.
        left_s: seconds until it stops by itself, or None.
        width: columns of the terminal.
        height: lines of the terminal; the last two are left for the prompt.
        colour: whether colours are wanted.

    Returns:
        ``height - 2`` lines, none wider than ``width``.
    """
    width, height = max(width, _SMALLEST[0]), max(height, _SMALLEST[1])
    rows = height - 2
    head = [Text(title, "bold", no_wrap=True, overflow="ellipsis")]
    head += [Text(summary(status), no_wrap=True, overflow="ellipsis") for status in scene.statuses[:8]]
    ends = "" if left_s is None else f"   stops in {seconds_in_words(max(0.0, left_s))}"
    foot = Text(_HELP + ends, "dim", no_wrap=True, overflow="ellipsis")
    room = rows - len(head) - 1
    side_width = min(_SIDE_WIDTH, width // 3)
    body = Table.grid(expand=True)
    body.add_column(ratio=1)
    body.add_column(width=side_width)
    body.add_row(_story(scene, room - 2, width - side_width - 4), _side(scene, room, side_width - 4))
    console = Console(
        file=io.StringIO(),
        width=width,
        height=rows,
        force_terminal=True,
        color_system="standard" if colour else None,
        legacy_windows=False,
        highlight=False,
        emoji=False,
        markup=False,
    )
    with console.capture() as captured:
        console.print(Group(*head, body, foot), overflow="crop", no_wrap=True, crop=True)
    lines = captured.get().splitlines()[:rows]
    return lines + [""] * (rows - len(lines))


def _story(scene: Scene, room: int, width: int) -> Panel:
    several = len(scene.avatars) > 1
    texts = []
    for stamped in [*scene.lines][-room:]:
        who = f"{stamped.avatar}: " if several and stamped.avatar else ""
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(f"{stamped.at:6.1f} ", "dim")
        text.append(f"{who}{stamped.line.text}", _COLOURS[stamped.line.tone])
        text.truncate(width, overflow="ellipsis")
        texts.append(text)
    return Panel(Group(*texts), title="what happens", height=room + 2, border_style="dim")


def _side(scene: Scene, room: int, width: int) -> Panel:
    texts: list[Text] = []
    for status in scene.statuses:
        near = scene.near(status.key)
        texts.append(Text(f"near {status.key} ({len(near)})", "bold"))
        texts += [Text(f" {each}") for each in near[:8]]
        waiting = status.gateway.approvals
        if waiting:
            texts.append(Text(f"waits for an answer ({len(waiting)})", "bold yellow"))
            texts += [Text(f" allow {each.approval_id}") for each in waiting[:3]]
        texts.append(Text("queues and budgets", "bold"))
        texts += [_gauge(name, used, limit, width) for name, used, limit in scene.gauges(status)[:12]]
    for text in texts:
        text.no_wrap, text.overflow = True, "ellipsis"
        text.truncate(width, overflow="ellipsis")
    return Panel(Group(*texts[: room - 2]), height=room, border_style="dim")


def _gauge(name: str, used: int, limit: int, width: int) -> Text:
    cells = 6
    share = min(1.0, used / limit) if limit else 1.0
    full = min(cells, round(share * cells + 0.49) if used else 0)
    colour = "red" if share >= 1.0 else "yellow" if share >= 0.5 else "green"  # noqa: PLR2004 - half full
    bar = Text()
    bar.append("█" * full, colour)
    bar.append("·" * (cells - full), "dim")
    bar.append(f" {name} {used}/{limit}"[: max(0, width - cells)])
    return bar


def repaint(lines: list[str], *, prompt: bool, clear: bool = False) -> str:
    """Return what paints the picture over the old one.

    Args:
        lines: from `draw`.
        prompt: also write the prompt anew, after a line was typed; else the cursor goes back where it was.
        clear: take away what stood there before, since the terminal's size changed.
    """
    at = len(lines) + 1
    painted = "\x1b[2J" * clear + "".join(f"\x1b[{row};1H{line}\x1b[0m\x1b[K" for row, line in enumerate(lines, 1))
    if prompt:
        return f"{painted}\x1b[{at};1H\x1b[J{PROMPT}"
    return f"\x1b7{painted}\x1b8"
