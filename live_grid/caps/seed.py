"""Capabilities: asking a region for its addresses, and keeping those that may be asked.

Owns the seed request, the reading of its reply, and the check of every address in it before anybody connects. An
address is a secret: whoever knows it acts as us, so nothing here shows one (Spec: LIV-4, Fault: 10).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from live_grid.addresses import HostPolicy, host_of, vet_url
from live_grid.errors import RemoteProtocolError
from live_grid.limits import CAPABILITIES_MAX
from live_grid.llsd import read_llsd_xml_untrusted, write_llsd_xml

__all__ = ("USED", "Capabilities", "SeedPost", "read_seed_reply_untrusted", "seed_request")

_NAME_MAX_CHARACTERS: Final = 64
_CONTENT_TYPE: Final = "application/llsd+xml"

USED: Final = (
    "AcceptFriendship",
    "AcceptGroupInvite",
    "AgentPreferences",
    "AgentProfile",
    "AvatarPickerSearch",
    "ChatSessionRequest",
    "CopyInventoryFromNotecard",
    "CreateInventoryCategory",
    "DeclineFriendship",
    "DeclineGroupInvite",
    "EventQueueGet",
    "FetchInventory2",
    "FetchInventoryDescendents2",
    "FetchLib2",
    "FetchLibDescendents2",
    "GetDisplayNames",
    "GetTexture",
    "GroupMemberData",
    "HomeLocation",
    "IncrementCOFVersion",
    "InventoryAPIv3",
    "LibraryAPIv3",
    "NewFileAgentInventory",
    "ReadOfflineMsgs",
    "RemoteParcelRequest",
    "SimulatorFeatures",
    "UpdateAgentInformation",
    "UpdateAgentLanguage",
    "UpdateAvatarAppearance",
    "UpdateNotecardAgentInventory",
    "UploadBakedTexture",
    "ViewerAsset",
)
"""What we ask for: only what is used."""


class SeedPost(msgspec.Struct, frozen=True, kw_only=True):
    """An HTTP POST to make. The address is a secret."""

    url: str
    body: bytes
    content_type: str = _CONTENT_TYPE

    def __repr__(self) -> str:
        return "SeedPost(…)"


class Capabilities(Mapping[str, str]):
    """Names and addresses of what a region offers.

    Args:
        addresses: vetted addresses by name.
        refused: names whose address was not taken.
    """

    __slots__ = ("_addresses", "refused")

    def __init__(self, addresses: Mapping[str, str], *, refused: tuple[str, ...] = ()) -> None:
        self._addresses = dict(addresses)
        self.refused = refused
        """Offered, but at an address that may not be asked."""

    def __getitem__(self, name: str) -> str:
        return self._addresses[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._addresses)

    def __len__(self) -> int:
        return len(self._addresses)

    def __repr__(self) -> str:
        return f"Capabilities({', '.join(self._addresses)})"


def seed_request(url: str, policy: HostPolicy, names: Iterable[str] = USED) -> SeedPost:
    """Write the request for a region's capabilities.

    Args:
        url: the seed, from a login reply or a handover event.
        policy: whom it may lead to.
        names: what to ask for.

    Raises:
        RemoteProtocolError: the seed may not be asked (Fault: 10).
    """
    return SeedPost(url=vet_url(url, policy), body=write_llsd_xml(list(names)))


def read_seed_reply_untrusted(body: bytes, *, seed: str, policy: HostPolicy) -> Capabilities:
    """Read a region's capabilities, leaving out those at addresses that may not be asked.

    Args:
        body: of the HTTP response, whole.
        seed: the vetted address that was asked; its host is vouched for by having answered.
        policy: whom addresses may lead to.

    Raises:
        RemoteProtocolError: the body is no map of names, or too large a one.
    """
    value = read_llsd_xml_untrusted(body)
    if not isinstance(value, dict) or len(value) > CAPABILITIES_MAX:
        raise RemoteProtocolError("seed reply is no map of capabilities")
    within = msgspec.structs.replace(policy, hosts=policy.hosts | {host_of(seed)}, any_public_host=False)
    taken: dict[str, str] = {}
    refused: list[str] = []
    for name, url in value.items():
        if len(name) > _NAME_MAX_CHARACTERS or not isinstance(url, str):
            continue
        try:
            taken[name] = vet_url(url, within)
        except RemoteProtocolError:
            refused.append(name)
    return Capabilities(taken, refused=tuple(refused))
