"""The configuration and its secrets: loaded once, checked as a whole, handed out section by section.

Rooms below the composition root import their own section from `gridagent.config.model` or
`gridagent.config.policy`; only the composition root loads (Spec: CFG-1 … CFG-5).
"""

from __future__ import annotations

from gridagent.config.check import check_config as check_config
from gridagent.config.load import LoadedConfig as LoadedConfig
from gridagent.config.load import load_config as load_config
from gridagent.config.load import load_config_and_secrets as load_config_and_secrets
from gridagent.config.load import parse_config as parse_config
from gridagent.config.model import Config as Config
from gridagent.config.paths import resolve_paths as resolve_paths
from gridagent.config.reload import ReloadPlan as ReloadPlan
from gridagent.config.reload import diff_for_reload as diff_for_reload
from gridagent.config.secrets import EndpointUrl as EndpointUrl
from gridagent.config.secrets import Secrets as Secrets
from gridagent.config.secrets import SecretStr as SecretStr

__all__ = (
    "Config",
    "EndpointUrl",
    "LoadedConfig",
    "ReloadPlan",
    "SecretStr",
    "Secrets",
    "check_config",
    "diff_for_reload",
    "load_config",
    "load_config_and_secrets",
    "parse_config",
    "resolve_paths",
)
