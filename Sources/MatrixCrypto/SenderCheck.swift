import ChatCore
import Ratchets

/// Judges who has sent what sessions read, within one change: the devices and identities of each user are read once.
struct SenderCheck {
    private let user: ExactText
    private let ownKeys: (identity: Curve25519Key, signing: Ed25519Key)
    private let storage: any CryptoStorage
    private let tracker: DeviceTracker
    private var users: [ExactText: (identity: Identity?, devices: [DeviceKeys])] = [:]
    /// Users whose devices nobody has asked for, such as of somebody who has left the room meanwhile.
    private(set) var unasked: Set<ExactText> = []
    /// Sessions of which it was not noted yet that their device was confirmed.
    private(set) var confirmed: [SessionID: InboundSession] = [:]

    init(user: ExactText, account: OlmAccount, tracker: DeviceTracker, storage: any CryptoStorage) {
        self.user = user
        ownKeys = (account.identityKey, account.signingKey)
        self.tracker = tracker
        self.storage = storage
    }

    /// What is to be said of who has made a session.
    /// - Throws: ``GroupMessageReader/Seal/unconfirmedSender`` or ``GroupMessageReader/Seal/unknownSender``, or if the storage does.
    mutating func trust(in session: InboundSession) async throws -> MessageTrust? {
        // A backup or a file proves nothing, whoever it names.
        guard session.source == .direct else { return .unproven }
        let owner = session.owner
        if ExactText(owner.user) == user, owner.identityKey == ownKeys.identity.bytes,
            owner.signingKey == ownKeys.signing.bytes
        {
            return nil
        }
        let (identity, devices) = try await known(ExactText(owner.user))
        let device = devices.first {
            $0.identityKey.bytes == owner.identityKey && $0.signingKey.bytes == owner.signingKey
        }
        if let identity, let device, identity.confirms(device) {
            note(identity.master, in: session)
            return identity.hasChangedAfterVerification ? .changedIdentity : nil
        }
        // It may be gone by now, as after a sign-out: what it was counts.
        guard let master = session.confirmedBy else {
            let isOutdated = tracker.isOutdated(ExactText(owner.user))
            if isOutdated == nil { unasked.insert(ExactText(owner.user)) }
            throw isOutdated ?? true ? GroupMessageReader.Seal.unknownSender : .unconfirmedSender
        }
        let isChanged = identity.map { $0.hasChangedAfterVerification && $0.master == master } ?? false
        return isChanged ? .changedIdentity : nil
    }

    private mutating func known(_ user: ExactText) async throws -> (Identity?, [DeviceKeys]) {
        if let known = users[user] { return known }
        let found = (
            try await Identity.stored(user, in: storage),
            try await storage.cryptoRecords(.device, owner: user).map { try DeviceKeys(record: $0) }
        )
        users[user] = found
        return found
    }

    private mutating func note(_ master: Ed25519Key, in session: InboundSession) {
        guard session.confirmedBy != master else { return }
        var session = session
        session.confirmedBy = master
        confirmed[SessionID(room: session.room, session: session.id)] = session
    }
}
