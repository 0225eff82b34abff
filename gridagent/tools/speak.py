"""Speaking: aloud, as an emote, and to one avatar.

Owns three rows of the catalogue. Speech is on the public channel only: a script's command channel is no place
for a model to talk on, so `Say.chat_channel` keeps its default. Results are for whoever watches; the model
learns that it was said and nothing more (Spec: MND-8, MND-13).
"""

from __future__ import annotations

from typing import Final

from gridagent.actions import Emote, Say, SendIm
from gridagent.tools.descriptor import Delivery
from gridagent.tools.native import act

__all__ = ("SPEAK",)

SPEAK: Final = (
    act(
        Say,
        "Speak in public. Your plain answer is spoken anyway: use this only to whisper, to shout, or to say "
        "something before you do something else.",
        {
            "text": "What to say, at most 1023 bytes.",
            "volume": "whisper carries 10 metres, say 20, shout 100.",
        },
        leave_out=frozenset({"chat_channel"}),
        delivery=Delivery.WORLD,
    ),
    act(
        Emote,
        "Show in public what you do, in the third person: 'waves' is shown as your name followed by 'waves'.",
        {"text": "What you do, without your name."},
        delivery=Delivery.WORLD,
    ),
    act(
        SendIm,
        "Send a private message to one avatar. Never send one person what another said in private.",
        {"to": "UUID of the avatar.", "text": "The message, at most 1023 bytes."},
        delivery=Delivery.WORLD,
    ),
)
"""The speaking tools."""
