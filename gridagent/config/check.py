"""Validating a configuration without running anything, offline (Spec: CFG-5).

Owns the notes: what is allowed but worth a second look. The command ``check-config`` prints them. Reads the
configuration and the secret files, as a start would; opens no socket and starts nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from gridagent.config.load import begin_loading
from gridagent.config.model import Backend, Config, LlmProvider

__all__ = ("check_config",)


def check_config(
    path: Path | None, environ: Mapping[str, str], options: Mapping[str, str] | None = None, *, cwd: Path | None = None
) -> tuple[Config, tuple[str, ...]]:
    """Load everything a start would load, and note what an operator may want to know.

    Returns:
        The configuration, and one sentence for each note.

    Raises:
        ConfigError: with every problem.
    """
    loading = begin_loading(path, environ, options or {}, cwd)
    del environ, options
    loading.read_secrets()
    config = loading.finish().config
    return config, tuple(_notes(config))


def _notes(config: Config) -> Iterator[str]:
    if config.grid.backend is Backend.SIMULATED:
        yield "The avatars live in the simulated grid; no grid is contacted."
    else:
        yield f"The avatars log in at {config.grid.live.address}."
        if config.grid.live.allow_plain_http:
            yield "The login may go over unencrypted HTTP: whoever can read it can log in as the avatar."
    if config.llm.provider is LlmProvider.OFFLINE:
        yield "The built-in offline model thinks for them; nothing is sent anywhere."
    else:
        key = "with a key" if config.llm.api_key_file else "without a key"
        yield f"Conversations are sent to {config.llm.endpoint} ({config.llm.model}), {key}."
        if config.llm.allow_plain_http:
            yield "Conversations may go over unencrypted HTTP: whoever is in between can read and change them."
    if config.tracing.enabled:
        where = config.tracing.endpoint or config.tracing.file
        yield f"Traces go to {where}{', with the beginning of what avatars say' if config.tracing.content else ''}."
    for key, avatar in config.avatars.items():
        roles = avatar.roles or config.roles
        policy = avatar.policy or config.policy
        if not roles.owners:
            yield f"{key} has no owner: only the operator can give orders (set roles.owners)."
        if avatar.dry_run or policy.dry_run:
            yield f"{key} runs dry: it decides and records, and changes nothing in the world."
    if not config.control.enabled:
        yield "The control endpoint is off: commands and the kill switch cannot reach the service."
