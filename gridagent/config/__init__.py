"""The configuration and its secrets: loaded once, checked as a whole, handed out section by section.

Rooms below the composition root import their own section from `gridagent.config.model` or
`gridagent.config.policy`; only the composition root loads (Spec: CFG-1 … CFG-5).
"""

from __future__ import annotations

from gridagent.config.load import LoadedConfig as LoadedConfig
from gridagent.config.load import load_config as load_config
from gridagent.config.load import load_config_and_secrets as load_config_and_secrets
from gridagent.config.load import parse_config as parse_config
from gridagent.config.model import Config as Config
from gridagent.config.secrets import EndpointUrl as EndpointUrl
from gridagent.config.secrets import Secrets as Secrets
from gridagent.config.secrets import SecretStr as SecretStr

__all__ = (
    "Config",
    "EndpointUrl",
    "LoadedConfig",
    "SecretStr",
    "Secrets",
    "load_config",
    "load_config_and_secrets",
    "parse_config",
)
