"""Mechanism without domain words: channels, fences, supervision and the ports of determinism.

============================  =======================================================
`channels`                    bounded queues with a stated overflow policy
`inbox`                       several queues, one reader, strict priority
`broadcast`                   one publisher, many readers, `Lagged` for the slow
`generation`                  one live run at a time, nothing late from an earlier one
`restart`, `supervisor`       restart classes, intensity and back-off; who performs them
`ports`                       clock, randomness, ids, blocking work, network
`system`, `deterministic`     the real ports; the simulated ones and the seeded run
`cancel_points`               cancel a call at each of its checkpoints: for tests
============================  =======================================================

Imports trio and the vocabulary below it (errors, limits, state tables); nothing here knows what
travels, runs or fails. `system` and `deterministic` are imported by name, by who chooses ports.
"""

from __future__ import annotations

from gridagent.runtime.broadcast import Broadcast as Broadcast
from gridagent.runtime.broadcast import Subscription as Subscription
from gridagent.runtime.channels import Lagged as Lagged
from gridagent.runtime.channels import Overflow as Overflow
from gridagent.runtime.channels import Receiver as Receiver
from gridagent.runtime.channels import Sender as Sender
from gridagent.runtime.channels import open_channel as open_channel
from gridagent.runtime.generation import Generation as Generation
from gridagent.runtime.generation import GenerationFence as GenerationFence
from gridagent.runtime.inbox import Inbox as Inbox
from gridagent.runtime.ports import Ports as Ports
from gridagent.runtime.restart import Backoff as Backoff
from gridagent.runtime.restart import RestartClass as RestartClass
from gridagent.runtime.restart import RestartIntensity as RestartIntensity
from gridagent.runtime.supervisor import ChildSpec as ChildSpec
from gridagent.runtime.supervisor import open_supervisor as open_supervisor

__all__ = (
    "Backoff",
    "Broadcast",
    "ChildSpec",
    "Generation",
    "GenerationFence",
    "Inbox",
    "Lagged",
    "Overflow",
    "Ports",
    "Receiver",
    "RestartClass",
    "RestartIntensity",
    "Sender",
    "Subscription",
    "open_channel",
    "open_supervisor",
)
