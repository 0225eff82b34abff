"""``gridagent grants``: what may recur without being asked for again (Spec: POL-8).

Owns the way from words to the two controls, and the printing of the list; the gateway decides what may be granted.
Needs a running service: a grant is given by its avatar's gateway and nobody else.
"""

from __future__ import annotations

from typing import Final

import msgspec

from gridagent.cli.exit_codes import ExitCode
from gridagent.cli.remote import Reach, send_built
from gridagent.cli.safe_text import shown
from gridagent.cli.vocabulary import UsageProblem
from gridagent.cli.wording import moment_in_words, seconds_in_words
from gridagent.controls import GiveGrant, RevokeGrant
from gridagent.errors import LimitExceeded, RemoteProtocolError
from gridagent.fronts.control import ControlClient
from gridagent.fronts.control.frames import decode_strictly
from gridagent.ids import AvatarKey, GrantId
from gridagent.limits import clip

__all__ = ("give_grant", "revoke_grant", "show_grants")

_TERMS: Final = msgspec.json.Decoder(GiveGrant)


def give_grant(reach: Reach, terms: str, *, avatar: str | None) -> ExitCode:
    """Allow something to recur.

    Raises:
        UsageProblem: the terms are not valid.
    """
    return send_built(reach, _terms(terms), name="grants give", avatar=avatar)


def _terms(text: str) -> GiveGrant:
    try:
        given = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        tagged = msgspec.json.encode({"control": "give_grant", **given})
        return decode_strictly(_TERMS, tagged, subject="the grant")
    except (msgspec.MsgspecError, UnicodeError, LimitExceeded, RemoteProtocolError) as error:
        raise UsageProblem(f"grants give: {clip(str(error), 160)}; gridagent grants --help has an example") from error


def revoke_grant(reach: Reach, grant_id: str, *, avatar: str | None) -> ExitCode:
    """Take a grant back."""
    return send_built(reach, RevokeGrant(grant_id=GrantId(grant_id)), name="grants revoke", avatar=avatar)


def show_grants(reach: Reach, avatar: str | None) -> ExitCode:
    """Print every grant that may be used."""

    async def ask(client: ControlClient) -> ExitCode:
        rows = await client.status(None if avatar is None else AvatarKey(avatar))
        for row in rows:
            for each in row.status.gateway.grants:
                words = (
                    f"{each.grant_id}  {row.status.key}: {shown(each.summary)} for {shown(each.principal, 64)}, "
                    f"{each.used} of {each.times} times in {seconds_in_words(each.window_s)}, "
                    f"{each.used_in_all} in all, until {moment_in_words(each.valid_until)}"
                )
                reach.print(words, {"avatar": row.status.key, **msgspec.structs.asdict(each)})
        if not reach.json and not any(row.status.gateway.grants for row in rows):
            reach.print("no grant may be used", None)
        return ExitCode.OK

    return reach.run(ask)
