"""Subscribers of a simulated run: one that reads at once, one that is slow on purpose, and a look at the queues.

Owns the numbering check of observations (Spec: BND-3): no gap but one that `Lagged` announced, exactly as long
as announced. Hands what it read to the oracle and the counters as JSON text. Used by
`gridagent.simulation.trial`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from random import Random
from typing import Final

import msgspec
import trio

from gridagent.events import AlertShown, EventsShed, ImReceived
from gridagent.observations import (
    ActionSettled,
    ApprovalOpened,
    ControlAnswered,
    EventSeen,
    GenerationClosed,
    LinkStateChanged,
    Observation,
    ObservationBody,
    WorkFenced,
)
from gridagent.runtime.broadcast import Subscription
from gridagent.runtime.channels import Lagged
from gridagent.service.api import SessionHandle
from gridagent.simulation.account import Account
from gridagent.simulation.counters import Sometimes
from gridagent.simulation.operator import Operator
from gridagent.simulation.views import decode_observation

__all__ = ("Numbering", "check_queues", "watch_at_once", "watch_slowly")

_encode: Final = msgspec.json.Encoder().encode
_READ: Final = (
    ActionSettled,
    ApprovalOpened,
    ControlAnswered,
    EventSeen,
    GenerationClosed,
    LinkStateChanged,
    WorkFenced,
)
"""What somebody here has a question about; the others are only numbered."""


def _is_plain(body: ObservationBody) -> bool:
    """Tell whether it is an event about which only its being seen matters; most observations are."""
    return isinstance(body, EventSeen) and not isinstance(body.event, AlertShown | EventsShed | ImReceived)


class Numbering:
    """Checks the sequence numbers that one subscriber reads."""

    __slots__ = ("_account", "_expected", "_subscriber")

    def __init__(self, account: Account, subscriber: str) -> None:
        self._account = account
        self._subscriber = subscriber
        self._expected: int | None = None

    def read(self, seq: int) -> None:
        """Take one number."""
        if self._expected is not None and seq != self._expected:
            self._account.breach(
                "observations without an unannounced gap", f"{self._subscriber} read {seq}, not {self._expected}"
            )
        self._expected = seq + 1

    def lagged(self, missed: int) -> None:
        """Take an announced gap."""
        if self._expected is not None:
            self._expected += missed


async def watch_at_once(
    subscription: AbstractContextManager[Subscription[Observation]],
    account: Account,
    sometimes: Sometimes,
    operator: Operator,
) -> None:
    """Read everything until the avatar is gone, and hand it on.

    Cancellation: safe.
    """
    numbering = Numbering(account, "the quick subscriber")
    with subscription as reader:
        try:
            while True:
                for item in await reader.receive_batch():
                    if isinstance(item, Lagged):
                        numbering.lagged(item.missed)
                        account.on_lag()
                        continue
                    numbering.read(item.seq)
                    if _is_plain(item.body):
                        account.on_plain_event()
                        continue
                    wanted = isinstance(item.body, _READ)
                    if not wanted and not account.questions.keep_secrets:
                        continue
                    raw = _encode(item)
                    account.questions.on_text(raw, "an observation")
                    if not wanted:
                        continue
                    seen = decode_observation(raw)
                    account.on_observed(seen)
                    sometimes.body(seen.body)
                    operator.on_observed(seen.body)
        except trio.EndOfChannel:
            await trio.lowlevel.checkpoint()


async def watch_slowly(
    subscription: AbstractContextManager[Subscription[Observation]], account: Account, sometimes: Sometimes, rng: Random
) -> None:
    """Read a batch, sleep, and so on until the avatar is gone.

    Cancellation: safe.
    """
    numbering = Numbering(account, "the slow subscriber")
    with subscription as reader:
        try:
            while True:
                for item in await reader.receive_batch():
                    if isinstance(item, Lagged):
                        numbering.lagged(item.missed)
                        sometimes.saw("subscriber_lagged")
                    else:
                        numbering.read(item.seq)
                await trio.sleep(rng.uniform(0.5, 20.0))
        except trio.EndOfChannel:
            await trio.lowlevel.checkpoint()


def check_queues(handle: SessionHandle, account: Account, sometimes: Sometimes) -> None:
    """Hold every queue to its limit, and count those that were ever full."""
    for queue in handle.status().queues:
        if queue.peak > queue.limit or queue.used > queue.limit:
            account.breach("every queue keeps its limit", f"{queue.name}: {queue.peak} of {queue.limit}")
        if queue.peak >= queue.limit and ".inbox." in queue.name:
            sometimes.saw("queue_full")
