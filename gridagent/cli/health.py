"""The health endpoint of a run: its token, its pages and where it listens.

Owns the file of a token that nobody chose: it is made anew at each start, for its owner alone, beside the control
endpoint's, and is gone with the run. What is answered is `gridagent.fronts.health`'s. Called by `gridagent.cli.run`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final

import trio

from gridagent.config.files import shown_path
from gridagent.config.model import HealthConfig
from gridagent.config.secrets import SecretStr
from gridagent.errors import OperatorError
from gridagent.fronts.control import RuntimeDirectory
from gridagent.runtime.ports import Ports

if TYPE_CHECKING:
    from gridagent.fronts.health import Pages

__all__ = ("HEALTH_TOKEN", "TOKEN_FILE", "open_health", "token_of", "withdraw_token")

TOKEN_FILE: Final = "health.token"  # noqa: S105 - the name of a file
HEALTH_TOKEN: Final = "health.token_file"  # noqa: S105 - the configuration's path
_TOKEN_BYTES: Final = 32


def token_of(secrets: Mapping[str, SecretStr], directory: RuntimeDirectory, ports: Ports) -> SecretStr:
    """Return the token that was chosen, or make one and leave it in the runtime directory.

    Raises:
        OperatorError: its file cannot be written.
    """
    chosen = secrets.get(HEALTH_TOKEN)
    if chosen is not None:
        return chosen
    token = ports.ids.token(_TOKEN_BYTES)
    try:
        directory.create(TOKEN_FILE, token.encode() + b"\n")
    except OSError as error:
        raise OperatorError(
            f"the health endpoint's token cannot be written in {shown_path(directory.path)} "
            f"({error.strerror or 'unknown error'}); free space there, or set health.token_file"
        ) from error
    return SecretStr(token)


def withdraw_token(directory: RuntimeDirectory) -> None:
    """Remove the token's file, if there is one."""
    directory.remove(TOKEN_FILE)


async def open_health(
    config: HealthConfig,
    pages: Pages,
    *,
    ports: Ports,
    log_error: Callable[[str, BaseException], None],
    tasks: trio.Nursery,
) -> str:
    """Listen, and return the address that the pages are found at.

    Raises:
        OperatorError: the address cannot be used.
    """
    from gridagent.fronts.health import HealthServer, serve_health  # noqa: PLC0415 - only who asks pays for it

    server = HealthServer(pages, clock=ports.clock, log_error=log_error)
    port = await tasks.start(partial(serve_health, server, ports.network, host=config.host, port=config.port))
    host = f"[{config.host}]" if ":" in config.host else config.host
    return f"http://{host}:{port}"
