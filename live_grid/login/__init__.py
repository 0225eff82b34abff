"""Login: the request, the answer, what to do after a refusal, and the course of it all."""

from live_grid.login.grid_info import GridInfo as GridInfo
from live_grid.login.grid_info import read_grid_info_untrusted as read_grid_info_untrusted
from live_grid.login.machine import LOGIN_TABLE as LOGIN_TABLE
from live_grid.login.machine import LoginMachine as LoginMachine
from live_grid.login.refusal import LoginRefused as LoginRefused
from live_grid.login.refusal import NextStep as NextStep
from live_grid.login.reply import LoginReply as LoginReply
from live_grid.login.reply import read_login_reply_untrusted as read_login_reply_untrusted
from live_grid.login.request import LoginRequest as LoginRequest
from live_grid.login.request import password_hash as password_hash
from live_grid.login.start import StartLocation as StartLocation
from live_grid.login.start import parse_start as parse_start

__all__ = (
    "LOGIN_TABLE",
    "GridInfo",
    "LoginMachine",
    "LoginRefused",
    "LoginReply",
    "LoginRequest",
    "NextStep",
    "StartLocation",
    "parse_start",
    "password_hash",
    "read_grid_info_untrusted",
    "read_login_reply_untrusted",
)
