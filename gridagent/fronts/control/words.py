"""What can be said on the control endpoint: requests one way, replies the other.

Owns both unions and the version of the protocol; decides and performs nothing. Every request carries an
``id`` that its replies repeat. A request that lists something gets a reply a row, then `Done`; `Observe`
turns the connection into a stream. Requests are closed (an unknown key is refused); replies may gain
keys within a version, and a client ignores those it does not know.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from gridagent.controls import Control, ControlReply
from gridagent.ids import ApprovalId, AvatarId, AvatarKey, EffectKey
from gridagent.limits import AUDIT_RECORDS_IN_MEMORY_MAX, Bounded, Label, Name, ShortText
from gridagent.observations import Observation
from gridagent.policy.audit import AuditKind
from gridagent.service.api import SessionStatus

__all__ = (
    "PROTOCOL_VERSION",
    "REPLIES",
    "REQUESTS",
    "Answered",
    "ApprovalRow",
    "AuditChecked",
    "AuditRow",
    "BackUp",
    "CheckAudit",
    "Done",
    "DoubtRow",
    "Ended",
    "ExportAudit",
    "ExportHeld",
    "FileWritten",
    "ForgetHeld",
    "HeldGone",
    "HeldRow",
    "Hello",
    "HoldAll",
    "ListApprovals",
    "ListDoubts",
    "ListHeld",
    "Missed",
    "Observe",
    "Observed",
    "Omitted",
    "Refused",
    "Reply",
    "Request",
    "SearchAudit",
    "SendControl",
    "ShowStatus",
    "ShowStorage",
    "StatusRow",
    "StorageRow",
    "TailAudit",
    "Welcome",
)

PROTOCOL_VERSION: Final = 1
TOKEN_MAX_CHARACTERS: Final = 128
AUDIT_PAGE_MAX: Final = 500
"""Records of one search; a client asks for the next page behind the last one."""

HELD_SHOWN_MAX: Final = 500
"""Lines about one person that are shown; an export has all of them."""

FilePath: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4_096)]
"""Absolute."""
RequestId: TypeAlias = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class Hello(Bounded, frozen=True, kw_only=True, tag_field="request", tag="hello"):
    """The first request of every connection; open to keys of later versions, so that they get a clear answer."""

    id: RequestId = 0
    protocol: int
    """The version the client speaks; another than `PROTOCOL_VERSION` is refused."""
    token: Annotated[str, Meta(max_length=TOKEN_MAX_CHARACTERS)]


class _Request(Bounded, frozen=True, kw_only=True, tag_field="request", forbid_unknown_fields=True):
    """Base of the union."""

    id: RequestId = 0


class ShowStatus(_Request, frozen=True, kw_only=True, tag="status"):
    """A `StatusRow` an avatar, then `Done`."""

    avatar: AvatarKey | None = None
    """None means all."""


class SendControl(_Request, frozen=True, kw_only=True, tag="control"):
    """One control to one avatar; `Answered`."""

    avatar: AvatarKey | None = None
    """None means the only one."""
    control: Control


class HoldAll(_Request, frozen=True, kw_only=True, tag="hold_all"):
    """The kill switch for every avatar at once: an `Answered` each, then `Done` (Spec: POL-12)."""


class Observe(_Request, frozen=True, kw_only=True, tag="observe"):
    """Observations from now on, until the client leaves or every avatar has stopped."""

    avatars: Annotated[tuple[AvatarKey, ...], Meta(max_length=64)] = ()
    """Empty means all."""


class ListApprovals(_Request, frozen=True, kw_only=True, tag="approvals"):
    """Every approval that waits for an answer: an `ApprovalRow` each, then `Done`."""

    avatar: AvatarKey | None = None
    """None means all."""


class TailAudit(_Request, frozen=True, kw_only=True, tag="audit"):
    """The newest audit records, oldest first: an `AuditRow` each, then `Done`."""

    avatar: AvatarKey | None = None
    """None means all."""
    most: Annotated[int, Meta(ge=1, le=AUDIT_RECORDS_IN_MEMORY_MAX)] = 20


class SearchAudit(_Request, frozen=True, kw_only=True, tag="audit_search"):
    """One page of the stored audit trail, oldest first: an `AuditRow` each, then `Done`."""

    avatar: AvatarKey | None = None
    """None means all."""
    since: float | None = None
    """Wall clock, in seconds; this moment included."""
    until: float | None = None
    """This moment excluded."""
    kind: AuditKind | None = None
    after: tuple[float, Annotated[int, Meta(ge=0, le=2**62)]] | None = None
    """Go on behind this record: ``at`` and ``row`` of the last one of the page before."""
    most: Annotated[int, Meta(ge=1, le=AUDIT_PAGE_MAX)] = AUDIT_PAGE_MAX


class CheckAudit(_Request, frozen=True, kw_only=True, tag="audit_verify"):
    """Check the whole audit trail; `AuditChecked`, as late as it takes."""


class ExportAudit(_Request, frozen=True, kw_only=True, tag="audit_export"):
    """Write the audit trail to a new file; `FileWritten`, as late as it takes."""

    file: FilePath


class BackUp(_Request, frozen=True, kw_only=True, tag="backup"):
    """Copy the database to a new file; `FileWritten`, as late as it takes."""

    file: FilePath


class ListDoubts(_Request, frozen=True, kw_only=True, tag="in_doubt"):
    """Every effect of which nobody knows whether it happened: a `DoubtRow` each, then `Done` (Spec: EFX-2)."""

    avatar: AvatarKey | None = None
    """None means all."""


class ListHeld(_Request, frozen=True, kw_only=True, tag="held"):
    """What is remembered of a person, the newest 500: a `HeldRow` each, then `Done` (Spec: MEM-5)."""

    avatar: AvatarKey | None = None
    """None means all."""
    person: AvatarId


class ExportHeld(_Request, frozen=True, kw_only=True, tag="held_export"):
    """Write all that is remembered of a person to a new file; `FileWritten` (Spec: MEM-5)."""

    avatar: AvatarKey | None = None
    """None means all."""
    person: AvatarId
    file: FilePath


class ForgetHeld(_Request, frozen=True, kw_only=True, tag="held_forget"):
    """Delete all that is stored of a person; `HeldGone`. Behind the control ``forget``, which clears memory first."""

    avatar: AvatarKey | None = None
    """None means all."""
    person: AvatarId


class ShowStorage(_Request, frozen=True, kw_only=True, tag="storage"):
    """How storage is; `StorageRow`."""

    retry: bool = False
    """First try to leave safe mode (Spec: EFX-4)."""


Request: TypeAlias = (
    ShowStatus
    | SendControl
    | HoldAll
    | Observe
    | ListApprovals
    | TailAudit
    | SearchAudit
    | CheckAudit
    | ExportAudit
    | BackUp
    | ListDoubts
    | ListHeld
    | ExportHeld
    | ForgetHeld
    | ShowStorage
)
"""Any request after `Hello`."""
REQUESTS: Final[tuple[type[Request], ...]] = Request.__args__


class _Reply(Bounded, frozen=True, kw_only=True, tag_field="reply"):
    """Base of the union."""

    id: RequestId = 0
    """Of the request it belongs to; 0 where there is none."""


class Welcome(_Reply, frozen=True, kw_only=True, tag="welcome"):
    """The token was right and the version is spoken here."""

    protocol: int
    version: Label
    """Version of the service."""
    instance: Label
    """What the endpoint file says too: proof that the service behind the port is the one that wrote it."""


class StatusRow(_Reply, frozen=True, kw_only=True, tag="status"):
    """One avatar now; long lists in it are cut, and counted whole beside it."""

    status: SessionStatus
    approvals: int
    """Approvals that wait."""
    in_doubt: int
    """Effects of which nobody knows whether they happened."""


class ApprovalRow(_Reply, frozen=True, kw_only=True, tag="approval"):
    """One approval that waits; never its nonce."""

    avatar: AvatarKey
    approval_id: ApprovalId
    action: Label
    summary: ShortText
    """The exact arguments in one line."""
    principal: Label
    rule: Label
    expires_in_s: float


class Answered(_Reply, frozen=True, kw_only=True, tag="answered"):
    """What became of a control."""

    avatar: AvatarKey
    answer: ControlReply


class AuditRow(_Reply, frozen=True, kw_only=True, tag="audit"):
    """One audit record; its keys are those of the audit reference."""

    avatar: AvatarKey
    record: msgspec.Raw
    run: int | None = None
    """Which start of the avatar it belongs to; None of a record that was not stored."""
    row: int | None = None
    """Its number in the stored trail."""


class AuditChecked(_Reply, frozen=True, kw_only=True, tag="audit_checked"):
    """What a check of the whole audit trail found."""

    segments: int
    rows: int
    missing: int
    """Records that were never stored: in safe mode, or by a crash."""
    head: Label
    """Digest of the newest segment, in hex: keep it elsewhere to prove later that nothing was rewritten."""
    problem: ShortText = ""
    """What does not fit, and where; empty when all does."""


class FileWritten(_Reply, frozen=True, kw_only=True, tag="file_written"):
    """A file was written whole."""

    file: FilePath
    bytes: int
    effects: int | None = None
    """Effects in it; of a backup."""
    audit_rows: int | None = None
    """Audit records in it."""


class DoubtRow(_Reply, frozen=True, kw_only=True, tag="doubt"):
    """One effect of which nobody knows whether it happened."""

    avatar: AvatarKey
    effect: EffectKey
    action: Label
    summary: ShortText
    """The exact arguments in one line."""
    since: float | None = None
    """When it was sent, in wall-clock seconds; None when storage does not say."""
    nonce: Label = ""
    """What it bears in the grid, where the grid can carry something: in a payment's description, for example."""
    why: ShortText = ""
    """Why it is not found out without a person."""
    look_at: ShortText = ""
    """Where a person can see for themselves."""


class HeldRow(_Reply, frozen=True, kw_only=True, tag="held"):
    """One thing that is remembered of a person."""

    avatar: AvatarKey
    kind: Label
    """heard, said, used, summary, evidence (about them, with somebody else) or fact."""
    conversation: ShortText
    """The key of the conversation, or ``public`` of a fact that everybody may be told."""
    at: float
    """Wall clock, in seconds."""
    source: Label
    """Label of where it came from."""
    who: Name = ""
    text: Annotated[str, Meta(max_length=1_024)]
    """Longer text is cut here; an export has it whole."""
    tainted: bool


class HeldGone(_Reply, frozen=True, kw_only=True, tag="held_gone"):
    """All that was stored of a person is deleted, and overwritten in the file."""

    count: int
    """Entries and facts that were still there when the request came."""


class StorageRow(_Reply, frozen=True, kw_only=True, tag="storage"):
    """How storage is."""

    file: FilePath
    fault: Label = ""
    """Why safe mode is on; empty while it is off."""
    since: float | None = None
    """Since when safe mode is on, in wall-clock seconds."""
    waiting: int
    """Records that wait for a commit."""
    commits: int
    records: int
    """Records that were committed since the start."""
    lost: int
    """Records that were dropped in safe mode because too many waited."""


class Observed(_Reply, frozen=True, kw_only=True, tag="observation"):
    """One observation."""

    observation: Observation


class Missed(_Reply, frozen=True, kw_only=True, tag="lagged"):
    """The reader was slow: so many observations of this avatar are lost to it (Spec: BND-3)."""

    avatar: AvatarKey
    missed: int


class Omitted(_Reply, frozen=True, kw_only=True, tag="omitted"):
    """One observation that does not fit into a frame, or into UTF-8."""

    avatar: AvatarKey
    seq: int
    kind: Label


class Ended(_Reply, frozen=True, kw_only=True, tag="ended"):
    """This avatar has stopped; nothing more comes of it."""

    avatar: AvatarKey


class Done(_Reply, frozen=True, kw_only=True, tag="done"):
    """The request is answered in full."""

    count: int
    """Rows that came before."""


class Refused(_Reply, frozen=True, kw_only=True, tag="refused"):
    """The request was not carried out; after a broken rule of the protocol the connection is closed."""

    code: Label
    message: ShortText


Reply: TypeAlias = (
    Welcome
    | StatusRow
    | ApprovalRow
    | Answered
    | AuditRow
    | AuditChecked
    | FileWritten
    | DoubtRow
    | HeldRow
    | HeldGone
    | StorageRow
    | Observed
    | Missed
    | Omitted
    | Ended
    | Done
    | Refused
)
"""Any reply."""
REPLIES: Final[tuple[type[Reply], ...]] = Reply.__args__
