"""Streams that never hold the loop up."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Self

import pytest
import trio
import trio.testing

from gridagent.cli import terminal
from gridagent.cli.terminal import Input, Output, is_terminal


async def lines_of(source: Input) -> list[str | None]:
    """Read every line."""
    return [line async for line in source]


class Pipe:
    """Both ends of a pipe, as text streams."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.reader = os.fdopen(reading, "r", encoding="utf-8")
        self.writer = os.fdopen(writing, "w", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for end in (self.reader, self.writer):
            if not end.closed:
                end.close()


async def test_output_goes_to_memory_as_it_is() -> None:
    """A stream without a descriptor is written to directly."""
    stream = io.StringIO()
    out = Output(stream)
    await out.write("one\n")
    out.write_now("two\n")
    assert stream.getvalue() == "one\ntwo\n"


async def test_output_reaches_a_pipe_in_order() -> None:
    """What is written comes out whole, however large."""
    with Pipe() as pipe:
        out, received = Output(pipe.writer), bytearray()

        async def read() -> None:
            while len(received) < 300_000:
                await trio.lowlevel.wait_readable(pipe.reader.fileno())
                received.extend(os.read(pipe.reader.fileno(), 65_536))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await out.write("a" * 150_000)
            await out.write("b" * 150_000)
        assert bytes(received) == b"a" * 150_000 + b"b" * 150_000


async def test_a_reader_that_does_not_read_holds_only_the_writer_up(autojump_clock) -> None:
    """Other tasks go on while a pipe is full. Spec: BND-3."""
    with Pipe() as pipe:
        out, ticks = Output(pipe.writer), 0
        with trio.move_on_after(10):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(out.write, "x" * 1_000_000)
                for _ in range(5):
                    await trio.sleep(1)
                    ticks += 1
                nursery.cancel_scope.cancel()
        assert ticks == 5
        assert not out.closed.is_set()


async def test_a_reader_that_left_closes_the_output() -> None:
    """What is written afterwards is dropped, and nothing is raised."""
    with Pipe() as pipe:
        pipe.reader.close()
        out = Output(pipe.writer)
        await out.write("x")
        assert out.closed.is_set()
        await out.write("y")


async def test_a_full_disk_loses_text_and_ends_nothing(monkeypatch) -> None:
    """What cannot be written is counted; the avatar lives on. Fault: 39."""

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with Pipe() as pipe:
        out = Output(pipe.writer)
        monkeypatch.setattr(terminal.os, "write", full)
        await out.write("x")
        assert (out.lost, out.closed.is_set()) == (1, False)


async def test_a_closed_stream_closes_the_output() -> None:
    """A stream in memory that was closed is as good as gone."""
    stream = io.StringIO()
    stream.close()
    out = Output(stream)
    await out.write("x")
    assert out.closed.is_set()
    out = Output(stream)
    out.write_now("x")
    assert out.closed.is_set()


async def test_a_descriptor_somebody_made_non_blocking_still_works(monkeypatch, autojump_clock) -> None:
    """An interrupted write or read is tried again."""
    with Pipe() as pipe:
        write, read, refused = os.write, os.read, []

        def once(name: str) -> None:
            if name not in refused:
                refused.append(name)
                raise BlockingIOError

        def slow_write(descriptor: int, data: bytes) -> int:
            once("write")
            return write(descriptor, data)

        def slow_read(descriptor: int, size: int) -> bytes:
            once("read")
            return read(descriptor, size)

        monkeypatch.setattr(terminal.os, "write", slow_write)
        monkeypatch.setattr(terminal.os, "read", slow_read)
        await Output(pipe.writer).write("hello\n")
        pipe.writer.close()
        assert await lines_of(Input(pipe.reader)) == ["hello"]
        assert refused == ["write", "read"]


async def test_input_comes_line_by_line_from_memory() -> None:
    """A stream without a descriptor is read directly."""
    assert await lines_of(Input(io.StringIO("say hi\r\n\nquit"))) == ["say hi", "", "quit"]


async def test_input_comes_line_by_line_from_a_pipe() -> None:
    """However the bytes come, lines come out whole, the last one too."""
    with Pipe() as pipe:
        pipe.writer.write("say hi\r\nho")
        pipe.writer.flush()
        pipe.writer.write("ld\nq")
        pipe.writer.close()
        assert await lines_of(Input(pipe.reader)) == ["say hi", "hold", "q"]


async def test_input_that_is_no_text_is_read_all_the_same() -> None:
    """Bytes that are no UTF-8 cannot end the run."""
    with Pipe() as pipe:
        os.write(pipe.writer.fileno(), b"say \xff\n")
        pipe.writer.close()
        assert await lines_of(Input(pipe.reader)) == ["say \ufffd"]


async def test_a_line_without_end_is_refused_and_not_kept() -> None:
    """Whoever pipes a novel in gets one refusal a line. Spec: BND-7."""
    with Pipe() as pipe:
        found: list[str | None] = []

        async def read() -> None:
            found.extend(await lines_of(Input(pipe.reader)))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await Output(pipe.writer).write("x" * 30_000 + "\nquit\n" + "y" * 10_000)
            pipe.writer.close()
        assert found == [None, "quit"]


async def test_a_file_and_the_null_device_can_be_read(tmp_path) -> None:
    """What cannot be waited for is always ready."""
    path = tmp_path / "lines"
    path.write_text("hold\n", encoding="utf-8")
    with path.open(encoding="utf-8") as file:
        assert await lines_of(Input(file)) == ["hold"]
    with Path(os.devnull).open(encoding="utf-8") as null:  # noqa: ASYNC230 - never blocks
        assert await lines_of(Input(null)) == []


async def test_a_terminal_that_went_away_ends_the_input(monkeypatch) -> None:
    """A hang-up is an end, not an error."""

    def gone(descriptor: int, size: int) -> bytes:
        raise OSError(5, "Input/output error")

    with Pipe() as pipe:
        pipe.writer.close()
        monkeypatch.setattr(terminal.os, "read", gone)
        assert await lines_of(Input(pipe.reader)) == []


@pytest.mark.parametrize("stream", [None, object(), io.StringIO()])
def test_what_is_no_terminal_is_none(stream) -> None:
    """Anything may stand where a terminal is hoped for. Spec: OPS-7."""
    assert not is_terminal(stream)


def test_a_closed_stream_is_no_terminal() -> None:
    """Asking a closed stream is no error."""
    stream = io.StringIO()
    stream.close()
    assert not is_terminal(stream)


def test_a_stream_that_lies_about_its_descriptor_has_none() -> None:
    """A descriptor that is no number is not used."""

    class Odd(io.StringIO):
        def fileno(self) -> int:
            return "7"  # type: ignore[return-value]

    assert terminal._descriptor(Odd()) is None
    assert terminal._descriptor(object()) is None
