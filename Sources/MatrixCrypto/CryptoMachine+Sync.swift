public import ChatCore
public import Foundation
import JSONReading
import Ratchets

extension CryptoMachine {
    /// Applies a sync response. Its changes are stored when this returns; only then may the sync position be, as the
    /// server discards acknowledged messages. Applying the same response again changes nothing.
    public func received(_ sync: CryptoSync, at now: Date) async throws -> CryptoReceipt {
        try await change { state, change in
            var receipt = CryptoReceipt()
            if !sync.events.isEmpty {
                try await self.takeMessages(
                    sync.events, outdating: sync.isWhole ? nil : sync.changed, &state, &change, &receipt, at: now)
                if let position = sync.position {
                    change.put.append(CryptoRecord(Self.positionKey, value: Data(position.utf8)))
                }
            }
            if sync.isWhole {
                state.tracker.invalidateAll()
                try Self.forgetAudiences(&state, &change)
            }
            state.tracker.received(changed: sync.changed, left: sync.left.filter { $0 != user })
            state.upkeep.received(counts: sync.keyCounts, unusedFallbackKeys: sync.unusedFallbackKeys, in: sync.kind)
            return receipt
        }
    }

    /// Processes to-device messages.
    /// - Parameter outdated: The users whose device lists have changed before these messages, beside those that are
    ///   outdated already; `nil` for all.
    func takeMessages(
        _ events: [JSONValue], outdating outdated: [ExactText]?, _ state: inout State, _ change: inout CryptoChange,
        _ receipt: inout CryptoReceipt, at now: Date
    ) async throws {
        var reader = ToDeviceReader(
            storage: storage, key: key, user: user, outdated: outdated.map { Set($0) }, now: now)
        for event in events { try await reader.take(event, &state, &receipt) }
        state.tracker.note(reader.damaged)
        change.merge(try await reader.change())
        for message in reader.ownMessages { try await self.take(message, &state, &change, &receipt, at: now) }
    }

    private func take(
        _ message: ToDeviceReader.OwnMessage, _ state: inout State, _ change: inout CryptoChange,
        _ receipt: inout CryptoReceipt, at now: Date
    ) async throws {
        switch message {
        case .verification(let type, let content, let sender):
            try await takeVerification(type, content, from: sender, &state, &change, at: now)
            receipt.hasVerifications = true
        case .secretRequest(let content, let sender): takeSecretRequest(content, from: sender, &state)
        case .secret(let content, let owner):
            guard let name = try await takeSecret(content, from: owner, &state, &change) else {
                return receipt.rejected[.secret, default: 0] += 1
            }
            receipt.secrets.insert(name)
        }
    }

    /// Starts tracking the device lists of these users.
    public func track(_ users: [ExactText]) async throws {
        try await change { state, _ in state.tracker.track(users) }
    }
}

/// Processes the to-device messages of one response, in order and as one change.
struct ToDeviceReader {
    private let storage: any CryptoStorage
    private let key: KeyMaterial
    private let user: ExactText
    /// The users whose device lists are outdated, though the tracker does not know it yet; `nil` for all.
    private let outdated: Set<ExactText>?
    private let now: Date
    private var senders: KnownSenders
    /// The devices whose messages the response contains.
    private var peers: [OlmPeer.ID: OlmPeer] = [:]
    /// Those of them that are no stored devices, by user.
    private var unlisted: [ExactText: UnlistedPeers] = [:]
    /// Users with damaged records of devices: each of their keys may be a device's.
    private var damagedDevices: Set<ExactText> = []
    /// The identity keys of the stored devices of senders.
    private var identityKeys: [ExactText: Set<Curve25519Key>] = [:]
    /// A copy of the account, with which sessions are established before it is known whether their payload is accepted.
    private var trialAccount: OlmAccount?
    private var sessions: [SessionID: InboundSession] = [:]
    /// Marks to store and to remove, by their keys (``UnconfirmedSessions``).
    private var marks: [CryptoRecord.Key: CryptoRecord?] = [:]
    /// Messages between the user's own devices, processed after the rest of the response.
    private(set) var ownMessages: [OwnMessage] = []
    private var withheld: WithheldRecords

    enum OwnMessage {
        case verification(String, JSONValue, from: ExactText)
        case secretRequest(JSONValue, from: ExactText)
        case secret(JSONValue, from: InboundSession.Owner)
    }

    private static let olm = "m.olm.v1.curve25519-aes-sha2"
    /// No genuine to-device ciphertext is longer.
    private static let maxCiphertext = 128 * 1024

    init(
        storage: any CryptoStorage, key: KeyMaterial, user: ExactText, outdated: Set<ExactText>?, now: Date
    ) {
        self.storage = storage
        self.key = key
        self.user = user
        self.outdated = outdated
        self.now = now
        senders = KnownSenders(storage: storage)
        withheld = WithheldRecords(storage: storage)
    }

    /// Users with damaged records, who have to be queried again.
    var damaged: DamagedUsers {
        var users = senders.damaged
        users.devices.formUnion(damagedDevices)
        return users
    }

    func change() async throws -> CryptoChange {
        var change = CryptoChange()
        for peer in peers.values { change.merge(try peer.change(key: key)) }
        for peers in unlisted.values { change.merge(try await peers.change(in: storage)) }
        for session in sessions.values { change.put += try session.records(key: key) }
        for (key, mark) in marks {
            if let mark { change.put.append(mark) } else { change.removed.insert(key) }
        }
        change.merge(withheld.change)
        return change
    }

    /// Processes one message. An unreadable message is counted and skipped; only storage and library failures throw.
    mutating func take(
        _ event: JSONValue, _ state: inout CryptoMachine.State, _ receipt: inout CryptoReceipt
    ) async throws {
        guard let type = event["type"]?.string, let sender = event["sender"]?.exactText, !sender.bytes.isEmpty,
            sender.bytes.count <= DeviceKeys.maxIdentifier, let content = event["content"], content.object != nil
        else { return receipt.rejected[.malformed, default: 0] += 1 }
        switch type {
        case "m.room.encrypted": try await takeSealed(content, from: sender, &state, &receipt)
        case "m.room_key.withheld": try await takeWithheld(content, from: sender, &state, &receipt)
        case "m.room_key", "m.forwarded_room_key", "m.secret.send", "m.room_key_bundle":
            receipt.rejected[.clear, default: 0] += 1
        case "m.secret.request": ownMessages.append(.secretRequest(content, from: sender))
        case _ where type.hasPrefix(VerificationFlow.prefix):
            ownMessages.append(.verification(type, content, from: sender))
        default: break
        }
    }

    private mutating func takeSealed(
        _ content: JSONValue, from sender: ExactText, _ state: inout CryptoMachine.State,
        _ receipt: inout CryptoReceipt
    ) async throws {
        let account = state.upkeep.account
        guard content["algorithm"]?.string == Self.olm, let text = content["sender_key"]?.string,
            let senderKey = try? Curve25519Key(base64: text), senderKey != account.identityKey,
            let ours = content["ciphertext"]?.object?.member(ExactText("\(account.identityKey)")),
            case .integer(let number)? = ours["type"],
            let kind = UInt32(exactly: number).flatMap({ OlmMessage.Kind(rawValue: $0) }),
            let body = ours["body"]?.string, body.utf8.count <= Self.maxCiphertext,
            let bytes = try? Base64.decoded(body)
        else { return receipt.rejected[.malformed, default: 0] += 1 }
        var peer = try await self.peer(OlmPeer.ID(user: sender, identityKey: senderKey))
        let found: (checked: Result<OlmPayload, OlmPayload.Failure>, isPeerChanged: Bool)
        do {
            found = try payload(of: OlmMessage(kind: kind, bytes: bytes), &peer, state.upkeep)
        } catch OlmPeer.Failure.repeated {
            return receipt.rejected[.repeated, default: 0] += 1
        } catch OlmPeer.Failure.unreadable {
            try await repair(&peer, &state)
            return receipt.rejected[.unreadable, default: 0] += 1
        }
        if found.isPeerChanged { try await store(peer, state.tracker) }
        switch found.checked {
        case .failure(let failure): receipt.rejected[CryptoReceipt.Rejection(failure), default: 0] += 1
        case .success(let payload):
            // The sender's device list is needed to judge what they send.
            state.tracker.track([sender])
            try await takeUnsealed(payload, state.tracker, &receipt)
        }
    }

    /// Decrypts a message with its session, or with the one that it establishes, and checks its payload.
    private mutating func payload(
        of message: OlmMessage, _ peer: inout OlmPeer, _ upkeep: KeyUpkeep
    ) throws -> (checked: Result<OlmPayload, OlmPayload.Failure>, isPeerChanged: Bool) {
        let (id, recipient, account) = (peer.id, user, upkeep.account)
        let check = { (plaintext: [UInt8]) -> Result<OlmPayload, OlmPayload.Failure> in
            do throws(OlmPayload.Failure) {
                return .success(
                    try OlmPayload(
                        plaintext: plaintext, sender: id.user, senderKey: id.identityKey, recipient: recipient,
                        recipientKey: account.signingKey))
            } catch {
                return .failure(error)
            }
        }
        if let plaintext = try peer.decrypt(message) { return (check(plaintext), true) }
        let trial = try trialAccount ?? OlmAccount(pickle: account.pickle(key: key), key: key)
        trialAccount = trial
        let checked = try peer.begin(with: message, of: account, after: trial, check: check)
        guard case .success = checked else {
            trialAccount = nil
            return (checked, false)
        }
        upkeep.accountChanged(by: message.oneTimeKey, at: now)
        return (checked, true)
    }

    private mutating func peer(_ id: OlmPeer.ID) async throws -> OlmPeer {
        if let known = peers[id] { return known }
        let peer = try await OlmPeer(id, in: storage, key: key)
        peers[id] = peer
        return peer
    }

    /// Stores a peer that has changed. If it is no stored device, it may displace others of its user.
    private mutating func store(_ peer: OlmPeer, _ tracker: DeviceTracker) async throws {
        let (user, identityKey) = (peer.id.user, peer.id.identityKey)
        peers[peer.id] = peer
        guard try await !isDevice(identityKey, of: user) else { return }
        var unlisted: UnlistedPeers
        if let known = self.unlisted[user] {
            unlisted = known
        } else {
            unlisted = try await UnlistedPeers(of: user, in: storage)
        }
        var dropped = unlisted.note(identityKey, at: now)
        if isListCurrent(of: user, tracker) { dropped += unlisted.expire(at: now) }
        for key in dropped { peers[OlmPeer.ID(user: user, identityKey: key)] = nil }
        self.unlisted[user] = unlisted
    }

    /// Queues a new session with a device, at most once an hour. A message can claim any sender key, so once the
    /// sender's device list is up to date, keys missing from it are ignored.
    private mutating func repair(_ peer: inout OlmPeer, _ state: inout CryptoMachine.State) async throws {
        let (sender, senderKey) = (peer.id.user, peer.id.identityKey)
        if state.tracker.isOutdated(sender) == false {
            guard try await mayBeDevice(senderKey, of: sender) else { return }
        }
        let item = OutgoingQueue.Item.repair(user: sender.text, identityKey: senderKey.bytes)
        guard state.outgoing.hasRoom(for: item), peer.mayRepair(at: now) else { return }
        state.outgoing.add(item)
        try await store(peer, state.tracker)
    }

    private mutating func isDevice(_ key: Curve25519Key, of user: ExactText) async throws -> Bool {
        if let known = identityKeys[user] { return known.contains(key) }
        let stored = StoredDevices(try await storage.cryptoRecords(.device, owner: user))
        if !stored.damaged.isEmpty { damagedDevices.insert(user) }
        let keys = Set(stored.devices.map(\.identityKey))
        identityKeys[user] = keys
        return keys.contains(key)
    }

    private mutating func mayBeDevice(_ key: Curve25519Key, of user: ExactText) async throws -> Bool {
        let isDevice = try await isDevice(key, of: user)
        return isDevice || damagedDevices.contains(user)
    }

    /// Whether a device that is not stored is none of the user's.
    private func isListCurrent(of user: ExactText, _ tracker: DeviceTracker) -> Bool {
        tracker.isOutdated(user) == false && outdated?.contains(user) == false && !damaged.devices.contains(user)
    }

    private mutating func takeUnsealed(
        _ payload: OlmPayload, _ tracker: DeviceTracker, _ receipt: inout CryptoReceipt
    ) async throws {
        switch payload.type {
        case "m.room_key": break
        case "m.forwarded_room_key": return receipt.rejected[.forwarded, default: 0] += 1
        case "m.secret.send": return ownMessages.append(.secret(payload.content, from: payload.owner))
        default: return
        }
        guard var session = try? InboundSession(roomKey: payload.content, from: payload.owner) else {
            return receipt.rejected[.roomKey, default: 0] += 1
        }
        let id = SessionID(room: session.room, session: session.id)
        // A damaged session can only be replaced.
        if case .found(let stored) = try await self.session(id) {
            // A damaged claim can only be replaced, too.
            let known = try await stored.withClaim(of: ExactText(session.owner.user), in: storage) ?? stored
            guard let merged = try session.merged(with: known) else {
                // Receiving the same session again is not an error; anything else is a different session under the
                // same ID.
                let claimed = known.claimed(by: ExactText(session.owner.user))
                let isSame =
                    try claimed.owner == session.owner && known.session.compare(to: session.session) != .unconnected
                if !isSame { receipt.rejected[.roomKey, default: 0] += 1 }
                return
            }
            session = merged.claimed(by: ExactText(session.owner.user))
        }
        // An imported session of another device, which the key has extended, proves nothing.
        if session.owner == payload.owner { try await confirm(&session, by: payload, tracker) }
        sessions[id] = session
        withheld.remove(CryptoRecord.Key(.withheldSession, owner: id.room, id: id.session))
        receipt.sessions.insert(id)
    }

    /// Records that the device of a session is confirmed now: it may be signed out before a message is read.
    private mutating func confirm(
        _ session: inout InboundSession, by payload: OlmPayload, _ tracker: DeviceTracker
    ) async throws {
        let owner = ExactText(payload.owner.user)
        session.confirmedBy =
            try await senders.confirmation(of: payload, isListCurrent: isListCurrent(of: owner, tracker))
            ?? session.confirmedBy
        let mark = session.confirmedBy == nil ? UnconfirmedSessions.mark(session) : nil
        marks.updateValue(mark, forKey: UnconfirmedSessions.key(ofMark: session))
    }

    private mutating func takeWithheld(
        _ content: JSONValue, from sender: ExactText, _ state: inout CryptoMachine.State,
        _ receipt: inout CryptoReceipt
    ) async throws {
        if content["code"]?.string == Withheld.noOlm.rawValue {
            try await takeMissingSession(content, from: sender, &state)
        }
        guard let (record, reason) = Withheld.reason(in: content) else { return }
        let id = SessionID(room: record.owner, session: record.id)
        // The notice is unauthenticated, so it never overrides a key.
        guard case .missing = try await session(id) else { return }
        guard try await withheld.put(reason, for: record) else { return }
        receipt.sessions.insert(id)
    }

    /// Queues a new session with a device that could not establish one itself, for lack of a one-time key for example.
    private mutating func takeMissingSession(
        _ content: JSONValue, from sender: ExactText, _ state: inout CryptoMachine.State
    ) async throws {
        guard let text = content["sender_key"]?.string, let senderKey = try? Curve25519Key(base64: text),
            senderKey != state.upkeep.account.identityKey, try await mayBeDevice(senderKey, of: sender)
        else { return }
        var peer = try await self.peer(OlmPeer.ID(user: sender, identityKey: senderKey))
        try await repair(&peer, &state)
    }

    private func session(_ id: SessionID) async throws -> InboundSession.Lookup {
        if let known = sessions[id] { return .found(known) }
        return try await InboundSession.stored(id, in: storage, key: key)
    }
}

extension CryptoReceipt.Rejection {
    init(_ failure: OlmPayload.Failure) {
        self =
            switch failure {
            case .malformed: .malformed
            case .recipient: .recipient
            case .sender: .sender
            case .deviceKeys: .deviceKeys
            }
    }
}
