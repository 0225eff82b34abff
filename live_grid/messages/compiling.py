"""Turns a message class into a reader and a writer, once, out of closures over `struct.Struct`.

Owns the byte order of blocks and fields; knows no particular message. A run of fields of fixed
size, together with the length that may follow it, is one `unpack_from`; slices copy what has a
length of its own. Called by `live_grid.messages.table` on the first use of a layout.

Invariant: a reader given any bytes returns a message or raises `RemoteProtocolError`, and does work
in proportion to the bytes it got: a count or length that lies runs into the end of the body at the
next read (Spec: LIV-3, Fault: 5).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from itertools import starmap
from operator import itemgetter
from typing import Final, TypeAlias, TypeVar, cast, get_args, get_origin

from msgspec import structs

from live_grid.errors import LocalProtocolError, RemoteProtocolError
from live_grid.messages.notation import Block, Kind, Message

__all__ = ("compile_reader", "compile_writer", "first_fields_of", "kinds_of")

MessageT = TypeVar("MessageT", bound=Message)
Values: TypeAlias = "tuple[object, ...]"
ReadBlock: TypeAlias = "Callable[[bytes, int, list[object]], int]"
WriteBlock: TypeAlias = "Callable[[Block, list[bytes]], None]"

COUNT_MAX: Final = 255
_LENGTH_MAX: Final = {"B": 0xFF, "H": 0xFFFF}


class _Run:
    """Neighbouring fields of fixed size, and the length prefix of the variable field after them."""

    __slots__ = ("first", "kinds", "prefix")

    def __init__(self, first: int) -> None:
        self.first = first
        self.kinds: list[Kind] = []
        self.prefix = ""

    def form(self) -> struct.Struct:
        """Everything as one `struct` form; a port stands alone in its run, being big-endian."""
        order = ">" if any(kind.network_order for kind in self.kinds) else "<"
        return struct.Struct(
            order
            + "".join(f"{kind.values}{kind.code}" if kind.values > 1 else kind.code for kind in self.kinds)
            + self.prefix
        )

    def regroup(self) -> Callable[[Values], Values] | None:
        """Make a function that puts the numbers of each vector into a tuple of its own, or none if there are none."""
        if all(kind.values == 1 for kind in self.kinds):
            return None
        picks: list[int | slice] = []
        at = 0
        for kind in self.kinds:
            picks.append(at if kind.values == 1 else slice(at, at + kind.values))
            at += kind.values
        if len(picks) == 1:
            only = cast("slice", picks[0])
            return lambda flat: (flat[only],)
        return cast("Callable[[Values], Values]", itemgetter(*picks))


def kinds_of(block: type[Block]) -> tuple[tuple[str, Kind], ...]:
    """List a block's fields with their kinds, in wire order."""
    return tuple((field.name, get_args(field.type)[1]) for field in structs.fields(block))


def _runs_of(block: type[Block]) -> list[_Run]:
    runs = [_Run(0)]
    for at, (_, kind) in enumerate(kinds_of(block)):
        if kind.prefixed:
            runs[-1].prefix = kind.code
            runs.append(_Run(at + 1))
            continue
        here = runs[-1].kinds
        if here and here[-1].network_order != kind.network_order:
            runs.append(_Run(at))
        runs[-1].kinds.append(kind)
    if not runs[-1].kinds:
        runs.pop()
    # A port before a length would make the length big-endian as well; no layout has one there.
    assert not any(run.prefix and run.kinds and run.kinds[-1].network_order for run in runs)  # noqa: S101
    return runs


# --- reading -----------------------------------------------------------------------------------
def _fixed_reader(block: type[Block], run: _Run) -> ReadBlock:
    form = run.form()
    unpack, size, regroup = form.unpack_from, form.size, run.regroup()
    if regroup is None:

        def read(body: bytes, at: int, out: list[object]) -> int:
            out.append(block(*unpack(body, at)))
            return at + size
    else:

        def read(body: bytes, at: int, out: list[object]) -> int:
            out.append(block(*regroup(unpack(body, at))))
            return at + size

    return read


def _segment_of(run: _Run) -> tuple[Callable[..., Values], int, Callable[[Values], Values] | None, bool]:
    form = run.form()
    return form.unpack_from, form.size, run.regroup(), bool(run.prefix)


def _segments_reader(block: type[Block], runs: list[_Run]) -> ReadBlock:
    segments = tuple(_segment_of(run) for run in runs)

    def read(body: bytes, at: int, out: list[object]) -> int:
        values: list[object] = []
        for unpack, size, regroup, prefixed in segments:
            flat = unpack(body, at)
            at += size
            if regroup is not None:
                values += regroup(flat)
            elif prefixed:
                values += flat[:-1]
            else:
                values += flat
            if prefixed:
                end = at + cast("int", flat[-1])
                values.append(body[at:end])
                at = end
        if at > len(body):
            raise IndexError  # the last slice came out short
        out.append(block(*values))
        return at

    return read


def _block_reader(block: type[Block]) -> ReadBlock:
    runs = _runs_of(block)
    if len(runs) == 1 and not runs[0].prefix:
        return _fixed_reader(block, runs[0])
    return _segments_reader(block, runs)


def _octets_reader(block: type[Block]) -> ReadBlock:
    """Read blocks of one byte: there are 256 of them, immutable, made once."""
    pick = tuple(map(block, range(256))).__getitem__

    def read(body: bytes, at: int, out: list[object]) -> int:
        start = at + 1
        end = start + body[at]
        out.append(tuple(map(pick, body[start:end])))
        return end

    return read


def _repeated_reader(block: type[Block]) -> ReadBlock:
    runs = _runs_of(block)
    if len(runs) == 1 and not runs[0].prefix and runs[0].regroup() is None:
        form = runs[0].form()
        iter_unpack, size = form.iter_unpack, form.size
        if form.format == "<B":
            return _octets_reader(block)

        def read_array(body: bytes, at: int, out: list[object]) -> int:
            start = at + 1
            end = start + body[at] * size
            # A slice that came out short is no whole number of blocks, or the end check of the message finds it.
            out.append(tuple(starmap(block, iter_unpack(body[start:end]))))
            return end

        return read_array
    read_one = _block_reader(block)

    def read(body: bytes, at: int, out: list[object]) -> int:
        blocks: list[object] = []
        count = body[at]
        at += 1
        for _ in range(count):
            at = read_one(body, at, blocks)
        out.append(tuple(blocks))
        return at

    return read


def _nothing(kind: Kind) -> object:
    if kind.prefixed:
        return b""
    form = struct.Struct("<" + kind.code * kind.values)
    flat = form.unpack(bytes(form.size))
    return flat if kind.values > 1 else flat[0]


def _blocks_of(message: type[Message]) -> Iterator[tuple[str, type[Block], bool]]:
    """Yield name, block class and whether it repeats, for each block of a layout."""
    for field in structs.fields(message):
        if field.name in {"absent", "extra"}:
            continue
        repeated = get_origin(field.type) is tuple
        yield field.name, get_args(field.type)[0] if repeated else field.type, repeated


def first_fields_of(message: type[Message]) -> tuple[str, ...]:
    """Name the fields that a message's body begins with: those of its first block, if that stands once."""
    for _, block, repeated in _blocks_of(message):
        return () if repeated else tuple(name for name, _ in kinds_of(block))
    return ()


def compile_reader(message: type[MessageT]) -> Callable[[bytes], MessageT]:
    """Make the function that reads the body of ``message``.

    Returns:
        A function of the expanded body, without the number, that returns the message. It tolerates
        trailing blocks that were not sent (they read as zeros or as empty) and unknown bytes after the last
        block (kept in ``extra``). It raises `RemoteProtocolError` for anything else.
    """
    name = message.__name__
    steps = tuple(
        (
            _repeated_reader(block) if repeated else _block_reader(block),
            () if repeated else block(*(_nothing(kind) for _, kind in kinds_of(block))),
        )
        for _, block, repeated in _blocks_of(message)
    )

    def read(body: bytes) -> MessageT:
        out: list[object] = []
        at = absent = 0
        size = len(body)
        try:
            for step, nothing in steps:
                if at >= size and out:
                    absent += 1
                    out.append(nothing)
                else:
                    at = step(body, at, out)
        except (struct.error, IndexError):
            raise RemoteProtocolError(f"{name} of {size} bytes ends inside a block") from None
        if at == size and not absent:
            return message(*out)
        if at > size:
            raise RemoteProtocolError(f"{name} of {size} bytes ends inside a block")
        return message(*out, absent=absent, extra=body[at:])

    return read


# --- writing -----------------------------------------------------------------------------------
def _flattened(values: Values, kinds: list[Kind]) -> list[object]:
    flat: list[object] = []
    for value, kind in zip(values, kinds, strict=True):
        if kind.values > 1:
            flat += cast("Values", value)
        elif kind.code.endswith("s") and len(cast("bytes", value)) != struct.calcsize(kind.code):
            raise LocalProtocolError(f"{len(cast('bytes', value))} bytes given where {kind.code} stands")
        else:
            flat.append(value)
    return flat


def _is_plain(run: _Run) -> bool:
    """Whether the values of a run can be packed as they are, with nothing to flatten or to measure."""
    return all(kind.values == 1 and not kind.code.endswith("s") for kind in run.kinds)


def _block_writer(block: type[Block]) -> WriteBlock:
    segments = [
        (
            run.form().pack,
            run.first,
            run.first + len(run.kinds),
            None if _is_plain(run) else run.kinds,
            _LENGTH_MAX.get(run.prefix),
        )
        for run in _runs_of(block)
    ]

    def write(given: Block, out: list[bytes]) -> None:
        values = structs.astuple(given)
        for pack, first, end, kinds, longest in segments:
            flat = values[first:end] if kinds is None else _flattened(values[first:end], kinds)
            if longest is None:
                out.append(pack(*flat))
                continue
            tail = values[end]
            if len(tail) > longest:
                raise LocalProtocolError(f"{len(tail)} bytes given where at most {longest} fit")
            out.append(pack(*flat, len(tail)))
            out.append(tail)

    return write


def _repeated_writer(block: type[Block]) -> Callable[[tuple[Block, ...], list[bytes]], None]:
    write_one = _block_writer(block)
    runs = _runs_of(block)
    pack = runs[0].form().pack if len(runs) == 1 and not runs[0].prefix and _is_plain(runs[0]) else None

    def write(given: tuple[Block, ...], out: list[bytes]) -> None:
        if len(given) > COUNT_MAX:
            raise LocalProtocolError(f"{len(given)} blocks given where at most {COUNT_MAX} fit")
        out.append(bytes((len(given),)))
        if pack is not None:
            out += starmap(pack, map(structs.astuple, given))
            return
        for one in given:
            write_one(one, out)

    return write


def compile_writer(message: type[MessageT]) -> Callable[[MessageT], bytes]:
    """Make the function that writes the body of ``message``.

    Returns:
        A function of the message that returns its body, without the number. It raises `LocalProtocolError`
        for a value that its field cannot carry.
    """
    name = message.__name__
    steps = tuple(
        _repeated_writer(block) if repeated else _block_writer(block) for _, block, repeated in _blocks_of(message)
    )

    def write(given: MessageT) -> bytes:
        out: list[bytes] = []
        present = len(steps) - given.absent
        if given.absent < 0 or (given.absent and (present < 1 or given.extra)):
            raise LocalProtocolError(f"{name}: {given.absent} of {len(steps)} blocks cannot be left out")
        try:
            for step, blocks in zip(steps[:present], structs.astuple(given), strict=False):
                step(blocks, out)
        except (struct.error, OverflowError, TypeError) as error:
            raise LocalProtocolError(f"{name}: a value does not fit its field ({error})") from error
        except LocalProtocolError as error:
            raise LocalProtocolError(f"{name}: {error}") from error
        out.append(given.extra)
        return b"".join(out)

    return write
