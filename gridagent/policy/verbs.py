"""What each action draws on and aims at, as one table: the policy's view of the catalogue.

Owns the rows verb → target, receiver, texts others read, units it uses up. The rules and the budgets
read it; nothing here decides. Its invariant: every action of the catalogue has a row, and each meter
stands at most once among the charges of one action.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from gridagent.actions import (
    ACTIONS,
    Action,
    AnswerDialog,
    AnswerFriendship,
    AnswerInventoryOffer,
    AnswerPermission,
    AnswerTeleportOffer,
    CreateLandmark,
    CreateNotecard,
    EditObject,
    EffectClass,
    EjectAvatar,
    Emote,
    EndFriendship,
    FollowAvatar,
    GiveItem,
    OfferFriendship,
    OfferTeleport,
    PayAvatar,
    PayObject,
    RequestTeleport,
    ReturnObject,
    RezObject,
    Say,
    SendIm,
    SitOn,
    TeleportHome,
    TeleportTo,
    Touch,
    UploadAsset,
    WalkTo,
)
from gridagent.config.policy import Meter
from gridagent.limits import BUDGET_METRES_MAX

__all__ = ("UNKNOWN_WAY_M", "VERBS", "Charges", "Verb")

UNKNOWN_WAY_M: Final = 256
"""A way nobody can tell counts as one across a standard region; a follow always counts at least that."""

Charges: TypeAlias = tuple[tuple[Meter, int], ...]
"""How much of which meter one action draws."""


class Verb:
    """One row.

    Args:
        kind: the action class.
        target: argument that must come from somebody with authority (payee, destination, receiver).
        peer: argument that names whom it is done to, for budgets per peer.
        texts: arguments that other people can read.
        units: meters of which each call uses up one.
        linden: argument with an amount of L$.
        declined_without: argument that makes the action a refusal when it is false or empty.
        travels: draws metres.
        endless: goes on after it was confirmed, so its way is never shorter than `UNKNOWN_WAY_M`.
    """

    __slots__ = (
        "_declined_without",
        "_endless",
        "_fixed",
        "_linden",
        "_repeatable",
        "_texts",
        "_travels",
        "capability",
        "deadline_s",
        "effect",
        "kind",
        "name",
        "peer",
        "preempts",
        "resource",
        "target",
    )

    def __init__(
        self,
        kind: type[Action],
        *,
        target: str = "",
        peer: str = "",
        texts: tuple[str, ...] = (),
        units: tuple[Meter, ...] = (),
        linden: str = "",
        declined_without: str = "",
        travels: bool = False,
        endless: bool = False,
    ) -> None:
        spec = kind.spec
        self.kind = kind
        self.name = str(kind.__struct_config__.tag)
        self.capability = spec.capability
        self.effect = spec.effect
        self.resource = spec.resource
        self.preempts = spec.preempts
        self.deadline_s = spec.deadline_s
        self.target = target
        self.peer = peer
        self._texts = texts
        self._linden = linden
        self._declined_without = declined_without
        self._travels = travels
        self._endless = endless
        self._repeatable = spec.effect is EffectClass.REPEATABLE
        calls = Meter(f"calls.{spec.capability.value}")
        self._fixed: Charges = ((calls, 1), *((meter, 1) for meter in units))

    def withdraws(self, action: Action) -> bool:
        """Tell whether the action only ends or declines something: stop, stand, decline, grant nothing."""
        return self._repeatable or (bool(self._declined_without) and not getattr(action, self._declined_without))

    def charges(self, action: Action, travel_m: float | None) -> Charges:
        """Return what the action draws on.

        Args:
            action: of this row's kind.
            travel_m: straight way in metres, where known.
        """
        if self.withdraws(action):
            return _WITHDRAWAL
        drawn = self._fixed
        if self._texts:
            size = 0
            for name in self._texts:
                text = getattr(action, name)
                if text:
                    size += len(text) if text.isascii() else len(text.encode())
            if size:
                drawn = (*drawn, (Meter.SPEECH_BYTES, size))
        if self._linden:
            amount = getattr(action, self._linden)
            if amount:
                drawn = (*drawn, (Meter.LINDEN, amount))
        if self._travels:
            drawn = (*drawn, (Meter.METRES, self._metres(travel_m)))
        return drawn

    def _metres(self, travel_m: float | None) -> int:
        if travel_m is None or math.isnan(travel_m) or travel_m < 0:
            return UNKNOWN_WAY_M
        if travel_m > BUDGET_METRES_MAX:
            return BUDGET_METRES_MAX + 1  # over every budget there can be
        return max(math.ceil(travel_m), UNKNOWN_WAY_M if self._endless else 1)


_WITHDRAWAL: Final[Charges] = ((Meter.WITHDRAWALS, 1),)

_SPECIAL: Final = (
    Verb(Say, texts=("text",)),
    Verb(Emote, texts=("text",)),
    Verb(SendIm, target="to", peer="to", texts=("text",), units=(Meter.IMS,)),
    Verb(WalkTo, travels=True),
    Verb(FollowAvatar, target="avatar_id", travels=True, endless=True),
    Verb(SitOn, target="object_id"),
    Verb(Touch, target="object_id"),
    Verb(TeleportTo, target="region", units=(Meter.TELEPORTS,)),
    Verb(TeleportHome, units=(Meter.TELEPORTS,)),
    Verb(OfferTeleport, target="to", peer="to", texts=("message",)),
    Verb(RequestTeleport, target="to", peer="to", texts=("message",)),
    # Accepting goes wherever the offer leads, so the offer itself is the target.
    Verb(AnswerTeleportOffer, target="offer_id", units=(Meter.TELEPORTS,), declined_without="accept"),
    # A script's text box takes any text for a button.
    Verb(AnswerDialog, texts=("button",)),
    Verb(AnswerPermission, declined_without="grant"),
    Verb(OfferFriendship, target="to", peer="to", texts=("message",)),
    Verb(AnswerFriendship, declined_without="accept"),
    Verb(EndFriendship, target="avatar_id", peer="avatar_id"),
    Verb(GiveItem, target="to", peer="to", units=(Meter.ITEMS,)),
    Verb(AnswerInventoryOffer, units=(Meter.ITEMS,), declined_without="accept"),
    # Nobody reads a notecard before it is given, but giving it carries no text of its own.
    Verb(CreateNotecard, texts=("name", "text"), units=(Meter.ITEMS,)),
    Verb(CreateLandmark, units=(Meter.ITEMS,)),
    Verb(PayAvatar, target="to", peer="to", texts=("description",), linden="amount"),
    Verb(PayObject, target="object_id", peer="object_id", linden="amount"),
    Verb(UploadAsset, units=(Meter.UPLOADS,), linden="price"),
    Verb(RezObject, texts=("name",), units=(Meter.PRIMS,)),
    Verb(EditObject, texts=("name", "description")),
    Verb(ReturnObject, target="object_id"),
    Verb(EjectAvatar, target="avatar_id"),
)

_ROWS: Final = {verb.kind: verb for verb in _SPECIAL}

VERBS: Final[dict[type, Verb]] = {kind: _ROWS.get(kind) or Verb(kind) for kind in ACTIONS}
"""Every action of the catalogue; what is not here does not exist."""
