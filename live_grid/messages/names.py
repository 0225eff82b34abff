"""Every message of the public template: name, number, and what its header promises.

Data only: four lists in the order of the numbers, each name with its marks. Nothing on the wire is
nameless, whether we have its layout or not (Spec: LIV-3). The number of a message is the one the
template gives it, which is how its first bytes read as one big-endian number: 1 … 254 for High, ``0xFF00`` + n
for Medium, ``0xFFFF0000`` + n for Low, ``0xFFFFFFFB`` … for Fixed.

Marks after the slash: ``T`` trusted, sent by simulators only · ``Z`` written zero-coded · ``Q`` comes
by the event queue only and is refused over UDP, where anybody could forge an address to go to.
"""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ("BY_NAME", "BY_NUMBER", "Header", "name_of")

_FIXED: Final = """
PacketAck OpenCircuit CloseCircuit
"""
_HIGH: Final = """
StartPingCheck CompletePingCheck NeighborList AgentUpdate/Z AgentAnimation AgentRequestSit/Z AgentSit RequestImage
ImageData ImagePacket LayerData/T ObjectUpdate/TZ ObjectUpdateCompressed/T ObjectUpdateCached/T
ImprovedTerseObjectUpdate/T KillObject/T TransferPacket SendXferPacket ConfirmXferPacket AvatarAnimation/T
AvatarSitResponse/TZ CameraConstraint/TZ ParcelProperties/TZQ EdgeDataPacket ChildAgentUpdate ChildAgentAlive
ChildAgentPositionUpdate AtomicPassObject SoundTrigger ObjectAnimation/T GenericStreamingMessage GameControlInput
"""
_MEDIUM: Final = """
ObjectAdd/Z MultipleObjectUpdate/Z RequestMultipleObjects/Z ObjectPosition/Z RequestObjectPropertiesFamily/Z
CoarseLocationUpdate/T CrossedRegion/TQ ConfirmEnableSimulator/T ObjectProperties/TZ ObjectPropertiesFamily/TZ
ParcelPropertiesRequest/Z SimStatus AttachedSound/T AttachedSoundGainChange PreloadSound InternalScriptMail
ViewerEffect/Z
"""
_LOW: Final = """
TestMessage AddCircuitCode UseCircuitCode AvatarTextureUpdate SimulatorMapUpdate SimulatorSetMap SubscribeLoad
UnsubscribeLoad SimulatorReady TelehubInfo SimulatorPresentAtLocation SimulatorLoad SimulatorShutdownRequest
RegionPresenceRequestByRegionID RegionPresenceRequestByHandle/T RegionPresenceResponse UpdateSimulator LogDwellTime
FeatureDisabled/T LogFailedMoneyTransaction UserReportInternal SetSimStatusInDatabase SetSimPresenceInDatabase
EconomyDataRequest EconomyData/TZ AvatarPickerRequest AvatarPickerRequestBackend AvatarPickerReply/T PlacesQuery
PlacesReply/Q DirFindQuery/Z DirFindQueryBackend DirPlacesQuery DirPlacesQueryBackend DirPlacesReply
DirPeopleReply/TZ DirEventsReply DirGroupsReply DirClassifiedQuery DirClassifiedQueryBackend DirClassifiedReply
AvatarClassifiedReply ClassifiedInfoRequest ClassifiedInfoReply ClassifiedInfoUpdate ClassifiedDelete
ClassifiedGodDelete DirLandQuery DirLandQueryBackend DirLandReply/Q DirPopularQuery DirPopularQueryBackend
DirPopularReply ParcelInfoRequest ParcelInfoReply/TZ ParcelObjectOwnersRequest ParcelObjectOwnersReply/Q
GroupNoticesListRequest GroupNoticesListReply GroupNoticeRequest GroupNoticeAdd TeleportRequest
TeleportLocationRequest TeleportLocal/T TeleportLandmarkRequest/Z TeleportProgress/T DataHomeLocationRequest
DataHomeLocationReply TeleportFinish/TQ StartLure TeleportLureRequest TeleportCancel TeleportStart/T
TeleportFailed/T Undo Redo UndoLand AgentPause AgentResume ChatFromViewer/Z AgentThrottle/Z AgentFOV
AgentHeightWidth AgentSetAppearance/Z AgentQuitCopy ImageNotInDatabase RebakeAvatarTextures SetAlwaysRun
ObjectDelete ObjectDuplicate ObjectDuplicateOnRay ObjectScale/Z ObjectRotation/Z ObjectFlagUpdate/Z
ObjectClickAction ObjectImage/Z ObjectMaterial/Z ObjectShape/Z ObjectExtraParams/Z ObjectOwner ObjectGroup
ObjectBuy/Z BuyObjectInventory DerezContainer ObjectPermissions/Z ObjectSaleInfo/Z ObjectName/Z ObjectDescription/Z
ObjectCategory ObjectSelect/Z ObjectDeselect/Z ObjectAttach ObjectDetach ObjectDrop ObjectLink ObjectDelink
ObjectGrab/Z ObjectGrabUpdate/Z ObjectDeGrab ObjectSpinStart ObjectSpinUpdate ObjectSpinStop ObjectExportSelected
ModifyLand VelocityInterpolateOn VelocityInterpolateOff StateSave ReportAutosaveCrash SimWideDeletes TrackAgent
ViewerStats ScriptAnswerYes UserReport/Z AlertMessage/T AgentAlertMessage/T MeanCollisionAlert/TZ
ViewerFrozenMessage HealthMessage/TZ ChatFromSimulator/T SimStats/T RequestRegionInfo RegionInfo/Z
GodUpdateRegionInfo NearestLandingRegionRequest NearestLandingRegionReply NearestLandingRegionUpdated
TeleportLandingStatusChanged RegionHandshake/TZ RegionHandshakeReply/Z SimulatorViewerTimeMessage/T
EnableSimulator/TQ DisableSimulator/T TransferRequest/Z TransferInfo/Z TransferAbort RequestXfer/Z AbortXfer
AvatarAppearance/TZ SetFollowCamProperties ClearFollowCamProperties RequestPayPrice PayPriceReply/T KickUser/T
KickUserAck GodKickUser SystemKickUser EjectUser FreezeUser AvatarPropertiesRequest AvatarPropertiesRequestBackend
AvatarPropertiesReply/TZ AvatarInterestsReply AvatarGroupsReply AvatarPropertiesUpdate AvatarInterestsUpdate
AvatarNotesReply AvatarNotesUpdate AvatarPicksReply EventInfoRequest EventInfoReply EventNotificationAddRequest
EventNotificationRemoveRequest EventGodDelete PickInfoReply PickInfoUpdate PickDelete PickGodDelete ScriptQuestion/T
ScriptControlChange/T ScriptDialog/TZ ScriptDialogReply/Z ForceScriptControlRelease RevokePermissions LoadURL/T
ScriptTeleportRequest/T ParcelOverlay/TZ ParcelPropertiesRequestByID/Z ParcelPropertiesUpdate/Z ParcelReturnObjects
ParcelSetOtherCleanTime ParcelDisableObjects ParcelSelectObjects EstateCovenantRequest EstateCovenantReply
ForceObjectSelect ParcelBuyPass ParcelDeedToGroup ParcelReclaim ParcelClaim ParcelJoin ParcelDivide ParcelRelease
ParcelBuy ParcelGodForceOwner ParcelAccessListRequest/Z ParcelAccessListReply/TZ ParcelAccessListUpdate/Z
ParcelDwellRequest ParcelDwellReply/T RequestParcelTransfer UpdateParcel RemoveParcel MergeParcel LogParcelChanges
CheckParcelSales ParcelSales ParcelGodMarkAsContent ViewerStartAuction StartAuction ConfirmAuctionStart
CompleteAuction CancelAuction CheckParcelAuctions ParcelAuctions UUIDNameRequest UUIDNameReply/T
UUIDGroupNameRequest UUIDGroupNameReply ChatPass ChildAgentDying ChildAgentUnknown KillChildAgents GetScriptRunning
ScriptRunningReply/Q SetScriptRunning ScriptReset ScriptSensorRequest ScriptSensorReply CompleteAgentMovement
AgentMovementComplete DataServerLogout LogoutRequest LogoutReply/TZ ImprovedInstantMessage/Z RetrieveInstantMessages
FindAgent RequestGodlikePowers GrantGodlikePowers GodlikeMessage EstateOwnerMessage/Z GenericMessage/Z
MuteListRequest UpdateMuteListEntry RemoveMuteListEntry CopyInventoryFromNotecard UpdateInventoryItem
UpdateCreateInventoryItem/TZ MoveInventoryItem/Z CopyInventoryItem/Z RemoveInventoryItem ChangeInventoryItemFlags
SaveAssetIntoInventory/T CreateInventoryFolder UpdateInventoryFolder MoveInventoryFolder RemoveInventoryFolder
FetchInventoryDescendents/Z InventoryDescendents/TZ FetchInventory/Z FetchInventoryReply/TZ BulkUpdateInventory/TZ
RequestInventoryAsset InventoryAssetResponse RemoveInventoryObjects PurgeInventoryDescendents UpdateTaskInventory/Z
RemoveTaskInventory MoveTaskInventory RequestTaskInventory ReplyTaskInventory/TZ DeRezObject/Z DeRezAck/T
RezObject/Z RezObjectFromNotecard TransferInventory TransferInventoryAck AcceptFriendship DeclineFriendship
FormFriendship TerminateFriendship OfferCallingCard AcceptCallingCard DeclineCallingCard RezScript/Z
CreateInventoryItem/Z CreateLandmarkForEvent EventLocationRequest EventLocationReply RegionHandleRequest
RegionIDAndHandleReply/T MoneyTransferRequest/Z MoneyTransferBackend MoneyBalanceRequest/Z MoneyBalanceReply/TZ
RoutedMoneyBalanceReply ActivateGestures DeactivateGestures MuteListUpdate/T UseCachedMuteList GrantUserRights
ChangeUserRights/T OnlineNotification/T OfflineNotification/T SetStartLocationRequest/Z SetStartLocation NetTest
SetCPURatio SimCrashed NameValuePair RemoveNameValuePair UpdateAttachment RemoveAttachment AssetUploadRequest
AssetUploadComplete EmailMessageRequest EmailMessageReply ScriptDataRequest ScriptDataReply CreateGroupRequest
CreateGroupReply UpdateGroupInfo GroupRoleChanges JoinGroupRequest/Z JoinGroupReply/T EjectGroupMemberRequest
EjectGroupMemberReply LeaveGroupRequest LeaveGroupReply/T InviteGroupRequest InviteGroupResponse GroupProfileRequest
GroupProfileReply/TZ GroupAccountSummaryRequest GroupAccountSummaryReply GroupAccountDetailsRequest
GroupAccountDetailsReply GroupAccountTransactionsRequest GroupAccountTransactionsReply GroupActiveProposalsRequest
GroupActiveProposalItemReply GroupVoteHistoryRequest GroupVoteHistoryItemReply StartGroupProposal
GroupProposalBallot TallyVotes GroupMembersRequest GroupMembersReply/TZ ActivateGroup/Z SetGroupContribution
SetGroupAcceptNotices GroupRoleDataRequest GroupRoleDataReply/T GroupRoleMembersRequest GroupRoleMembersReply
GroupTitlesRequest GroupTitlesReply GroupTitleUpdate GroupRoleUpdate LiveHelpGroupRequest LiveHelpGroupReply
AgentWearablesRequest AgentWearablesUpdate/TZ AgentIsNowWearing/Z AgentCachedTexture AgentCachedTextureResponse/T
AgentDataUpdateRequest AgentDataUpdate/TZ GroupDataUpdate AgentGroupDataUpdate/TZQ AgentDropGroup/Q LogTextMessage
CreateTrustedCircuit DenyTrustedCircuit RequestTrustedCircuit RezSingleAttachmentFromInv/Z
RezMultipleAttachmentsFromInv/Z DetachAttachmentIntoInv CreateNewOutfitAttachments UserInfoRequest UserInfoReply
UpdateUserInfo ParcelRename InitiateDownload SystemMessage MapLayerRequest MapLayerReply MapBlockRequest
MapNameRequest MapBlockReply/T MapItemRequest MapItemReply/T SendPostcard RpcChannelRequest RpcChannelReply
RpcScriptRequestInbound RpcScriptRequestInboundForward RpcScriptReplyInbound ScriptMailRegistration
ParcelMediaCommandMessage ParcelMediaUpdate LandStatRequest LandStatReply/Q Error ObjectIncludeInSearch
RezRestoreToWorld LinkInventoryItem RetrieveIMsExtended JoinGroupRequestExtended CreateGroupRequestExtended
LargeGenericMessage ObjectBypassModUpdate
"""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a message's header says about it, whatever its body holds."""

    name: str
    number: int
    prefix: bytes
    """The number as it stands on the wire."""
    trusted: bool
    """Sent by simulators only."""
    zerocoded: bool
    """Written zero-coded when that makes it shorter."""
    event_queue_only: bool
    """Refused over UDP."""


def _prefix(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def _read(text: str, first: int) -> list[Header]:
    headers = []
    for number, entry in enumerate(text.split(), first):
        name, _, marks = entry.partition("/")
        headers.append(
            Header(
                name=name,
                number=number,
                prefix=_prefix(number),
                trusted="T" in marks,
                zerocoded="Z" in marks,
                event_queue_only="Q" in marks,
            )
        )
    return headers


_ALL: Final = (
    *_read(_FIXED, 0xFFFF_FFFB),
    *_read(_HIGH, 1),
    *_read(_MEDIUM, 0xFF01),
    *_read(_LOW, 0xFFFF_0001),
)
BY_NAME: Final[dict[str, Header]] = {header.name: header for header in _ALL}
BY_NUMBER: Final[dict[int, Header]] = {header.number: header for header in _ALL}


def name_of(number: int) -> str:
    """Name a message number, also one that no template knows."""
    header = BY_NUMBER.get(number)
    return header.name if header is not None else f"message {number:#x}"
