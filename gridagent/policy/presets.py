"""The shipped policies, each on one screen, in the very form an operator writes in a configuration file.

Owns ``BASE``, which every preset starts from, and one text a preset (Spec: OPS-9). Merged and compiled by
`gridagent.policy.policy`; a configured section is laid over its preset cell by cell. A cell that stands
nowhere is ``deny``, a meter that stands nowhere is zero: so L$, uploads, items, metres, prims and the
calls that go with them do nothing until somebody writes a number (Spec: BND-13).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gridagent.config.policy import Preset

__all__ = ("BASE", "PRESETS", "SUMMARIES")

BASE: Final = """
{
  "matrix": {
    "operator_console": {
      "observe": "owner", "speak": "owner", "direct_message": "owner", "animate": "owner", "move": "owner",
      "teleport": "owner", "interact": "owner", "social": "owner", "inventory": "owner", "money": "owner",
      "upload": "owner", "build": "owner", "land": "owner"
    },
    "public_chat": {"observe": "anyone"},
    "direct_im":   {"observe": "anyone"},
    "schedule":    {"observe": "trusted"},
    "goal":        {"observe": "trusted"},
    "ag_ui":       {"observe": "trusted"},
    "a2a":         {"observe": "trusted"},
    "mcp":         {"observe": "trusted"}
  },
  "tainted": {
    "teleport": "deny", "inventory": "deny", "money": "deny", "upload": "deny", "build": "deny", "land": "deny"
  },
  "target_from": {
    "teleport":  ["configuration", "authorised_words"],
    "inventory": ["configuration", "authorised_words"],
    "money":     ["configuration", "authorised_words"],
    "land":      ["configuration", "authorised_words"]
  },
  "approvals": {
    "inventory": "required", "money": "required", "upload": "required", "build": "required", "land": "required"
  },
  "patterns": {
    "script-permissions": {
      "action": "answer_permission", "argument": "grant", "none_of": ["animate"], "then": "deny"
    }
  },
  "budgets": {
    "calls.speak": [
      {"per": "principal", "limit": 60, "window_s": 60},
      {"per": "strangers", "limit": 180, "window_s": 60},
      {"per": "global", "limit": 300, "window_s": 60}
    ],
    "speech_bytes": [
      {"per": "principal", "limit": 16384, "window_s": 60},
      {"per": "strangers", "limit": 262144, "window_s": 3600},
      {"per": "global", "limit": 524288, "window_s": 3600}
    ],
    "calls.direct_message": [
      {"per": "strangers", "limit": 120, "window_s": 60},
      {"per": "global", "limit": 240, "window_s": 60}
    ],
    "ims": [
      {"per": "peer", "limit": 20, "window_s": 60},
      {"per": "principal", "limit": 60, "window_s": 60},
      {"per": "global", "limit": 2000, "window_s": 3600}
    ],
    "calls.animate": [{"per": "strangers", "limit": 60, "window_s": 60}, {"per": "global", "limit": 120, "window_s": 60}],
    "calls.interact": [{"per": "strangers", "limit": 30, "window_s": 60}, {"per": "global", "limit": 60, "window_s": 60}],
    "calls.social": [{"per": "strangers", "limit": 20, "window_s": 3600}, {"per": "global", "limit": 60, "window_s": 3600}],
    "calls.teleport": [{"per": "global", "limit": 10, "window_s": 60}],
    "teleports": [{"per": "strangers", "limit": 30, "window_s": 3600}, {"per": "global", "limit": 60, "window_s": 3600}],
    "withdrawals": [{"per": "strangers", "limit": 120, "window_s": 60}, {"per": "global", "limit": 300, "window_s": 60}]
  }
}
"""  # noqa: E501 - a table is read by row
"""What holds unless a preset or the configuration says otherwise."""

OBSERVER: Final = """
{}
"""

GREETER: Final = """
{
  "matrix": {
    "public_chat": {"speak": "anyone", "animate": "anyone", "interact": "owner"},
    "direct_im":   {"speak": "trusted", "direct_message": "anyone", "animate": "trusted", "interact": "owner"},
    "goal":        {"speak": "owner", "direct_message": "owner", "animate": "owner"},
    "schedule":    {"speak": "owner", "animate": "owner"},
    "ag_ui":       {"speak": "trusted", "animate": "trusted"},
    "a2a":         {"speak": "trusted", "animate": "trusted"}
  }
}
"""

GUIDE: Final = """
{
  "matrix": {
    "public_chat": {"speak": "anyone", "animate": "anyone", "move": "anyone", "interact": "trusted", "social": "trusted"},
    "direct_im":   {"speak": "trusted", "direct_message": "anyone", "animate": "trusted", "move": "trusted",
                    "teleport": "trusted", "interact": "trusted", "social": "anyone"},
    "goal":        {"speak": "owner", "direct_message": "owner", "animate": "owner", "move": "owner",
                    "teleport": "owner", "interact": "owner", "social": "owner"},
    "schedule":    {"speak": "owner", "animate": "owner", "move": "owner"},
    "ag_ui":       {"speak": "trusted", "direct_message": "trusted", "animate": "trusted", "move": "trusted"},
    "a2a":         {"speak": "trusted", "animate": "trusted", "move": "trusted"}
  },
  "budgets": {
    "calls.move": [{"per": "strangers", "limit": 30, "window_s": 60}, {"per": "global", "limit": 90, "window_s": 60}],
    "metres": [
      {"per": "principal", "limit": 2048, "window_s": 3600},
      {"per": "strangers", "limit": 8192, "window_s": 3600},
      {"per": "global", "limit": 16384, "window_s": 3600}
    ]
  }
}
"""  # noqa: E501 - a table is read by row

SHOPKEEPER: Final = """
{
  "matrix": {
    "public_chat": {"speak": "anyone", "animate": "anyone", "move": "trusted", "inventory": "anyone"},
    "direct_im":   {"speak": "trusted", "direct_message": "anyone", "animate": "trusted", "move": "trusted",
                    "interact": "trusted", "social": "anyone", "inventory": "anyone", "money": "owner"},
    "goal":        {"speak": "owner", "direct_message": "owner", "animate": "owner", "move": "owner",
                    "inventory": "owner", "money": "owner"},
    "schedule":    {"speak": "owner", "animate": "owner", "move": "owner"},
    "ag_ui":       {"speak": "trusted", "direct_message": "trusted", "inventory": "trusted"}
  },
  "tainted":     {"inventory": "approve"},
  "target_from": {"inventory": ["configuration", "authorised_words", "model"]},
  "patterns": {
    "big-payment": {"action": "pay_avatar", "argument": "amount", "over": 250, "then": "deny"}
  },
  "budgets": {
    "calls.move": [{"per": "global", "limit": 60, "window_s": 60}],
    "metres": [{"per": "global", "limit": 4096, "window_s": 3600}],
    "calls.inventory": [{"per": "peer", "limit": 10, "window_s": 3600}, {"per": "global", "limit": 60, "window_s": 3600}],
    "items": [{"per": "peer", "limit": 5, "window_s": 3600}, {"per": "global", "limit": 60, "window_s": 3600}],
    "calls.money": [{"per": "global", "limit": 20, "window_s": 86400}],
    "linden": [{"per": "peer", "limit": 250, "window_s": 86400}, {"per": "global", "limit": 500, "window_s": 86400}]
  }
}
"""  # noqa: E501 - a table is read by row

BUILDER: Final = """
{
  "matrix": {
    "public_chat": {"speak": "trusted", "animate": "trusted", "move": "trusted"},
    "direct_im":   {"speak": "trusted", "direct_message": "trusted", "animate": "trusted", "move": "trusted",
                    "teleport": "owner", "interact": "owner", "social": "owner", "inventory": "owner",
                    "upload": "owner", "build": "owner", "land": "owner"},
    "goal":        {"speak": "owner", "direct_message": "owner", "animate": "owner", "move": "owner",
                    "teleport": "owner", "interact": "owner", "inventory": "owner", "upload": "owner", "build": "owner"},
    "ag_ui":       {"speak": "trusted", "direct_message": "trusted", "move": "trusted", "build": "trusted"}
  },
  "budgets": {
    "calls.move": [{"per": "global", "limit": 120, "window_s": 60}],
    "metres": [{"per": "global", "limit": 16384, "window_s": 3600}],
    "calls.inventory": [{"per": "global", "limit": 60, "window_s": 3600}],
    "items": [{"per": "global", "limit": 60, "window_s": 3600}],
    "calls.build": [{"per": "global", "limit": 600, "window_s": 3600}],
    "prims": [{"per": "principal", "limit": 100, "window_s": 3600}, {"per": "global", "limit": 500, "window_s": 86400}],
    "calls.upload": [{"per": "global", "limit": 20, "window_s": 86400}],
    "uploads": [{"per": "global", "limit": 20, "window_s": 86400}],
    "calls.land": [{"per": "global", "limit": 20, "window_s": 3600}]
  }
}
"""  # noqa: E501 - a table is read by row

PRESETS: Final[Mapping[Preset, str]] = {
    Preset.OBSERVER: OBSERVER,
    Preset.GREETER: GREETER,
    Preset.GUIDE: GUIDE,
    Preset.SHOPKEEPER: SHOPKEEPER,
    Preset.BUILDER: BUILDER,
}
"""One JSON text a preset; `gridagent.policy.policy` decodes each on first use."""

SUMMARIES: Final[Mapping[Preset, str]] = {
    Preset.OBSERVER: "Sees and hears; does nothing for anybody but the operator.",
    Preset.GREETER: "Talks with everybody in public.",
    Preset.GUIDE: "A greeter who walks about, answers IMs and invites people.",
    Preset.SHOPKEEPER: "A guide who gives items and pays L$, each with an approval.",
    Preset.BUILDER: "Builds for the owner, each with an approval.",
}
"""One sentence a preset, the same as under its word in `gridagent.config.policy.Preset`."""
