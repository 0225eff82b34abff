"""Capabilities: the HTTP addresses a region offers, asked for and vetted."""

from live_grid.caps.seed import USED as USED
from live_grid.caps.seed import Capabilities as Capabilities
from live_grid.caps.seed import SeedPost as SeedPost
from live_grid.caps.seed import read_seed_reply_untrusted as read_seed_reply_untrusted
from live_grid.caps.seed import seed_request as seed_request

__all__ = ("USED", "Capabilities", "SeedPost", "read_seed_reply_untrusted", "seed_request")
