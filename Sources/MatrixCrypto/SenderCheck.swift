import ChatCore
import Ratchets

/// Checks who has created sessions, within one change: the devices and identity of each user are loaded once.
struct SenderCheck {
    private let user: ExactText
    private let ownKeys: (identity: Curve25519Key, signing: Ed25519Key)
    private let tracker: DeviceTracker
    private let storage: any CryptoStorage
    private var known: KnownSenders
    /// Users who are not tracked, such as former members of the room.
    private(set) var unasked: Set<ExactText> = []
    /// Users with damaged records, who have to be queried again.
    var damaged: DamagedUsers { known.damaged }
    /// Sessions to store because the confirmation of their device was recorded in them.
    private(set) var confirmed: [SessionID: InboundSession] = [:]

    init(user: ExactText, account: OlmAccount, tracker: DeviceTracker, storage: any CryptoStorage) {
        self.user = user
        ownKeys = (account.identityKey, account.signingKey)
        self.tracker = tracker
        self.storage = storage
        known = KnownSenders(storage: storage)
    }

    /// The warning to show about the creator of a session; `nil` if there is none.
    /// - Throws: ``GroupMessageReader/Seal/unconfirmedSender`` or ``GroupMessageReader/Seal/unknownSender``, or if the
    ///   storage fails.
    mutating func trust(in session: InboundSession) async throws -> MessageTrust? {
        // A backup or key file proves nothing, whichever owner it names.
        guard session.source == .direct else { return .unproven }
        let owner = session.owner
        if ExactText(owner.user) == user, owner.identityKey == ownKeys.identity.bytes,
            owner.signingKey == ownKeys.signing.bytes
        {
            return nil
        }
        let (identity, devices) = try await known.find(ExactText(owner.user))
        let device = devices.first { owner.isDevice($0) }
        if let identity, let device, identity.confirms(device) {
            note(identity.master, in: session)
            return identity.hasChangedAfterVerification ? .changedIdentity : nil
        }
        // The device may be gone, as after a sign-out: that it was confirmed before still counts.
        guard let master = session.confirmedBy else {
            if ExactText(owner.user) == user, try await FormerDevices.contain(owner, in: storage) { return nil }
            let isOutdated = tracker.isOutdated(ExactText(owner.user))
            if isOutdated == nil { unasked.insert(ExactText(owner.user)) }
            let isUnknown = isOutdated ?? true || damaged.contains(ExactText(owner.user))
            throw isUnknown ? GroupMessageReader.Seal.unknownSender : .unconfirmedSender
        }
        let isChanged =
            identity.map { $0.hasChangedAfterVerification && ($0.master == master || $0.isUnknown) } ?? false
        return isChanged ? .changedIdentity : nil
    }

    private mutating func note(_ master: Ed25519Key, in session: InboundSession) {
        guard session.confirmedBy != master else { return }
        let id = SessionID(room: session.room, session: session.id)
        // One event may be of one of several owners, and the next one of another.
        var session = session.joinedClaim(to: confirmed[id] ?? session).claimed(by: ExactText(session.owner.user))
        session.confirmedBy = master
        confirmed[id] = session
    }
}
