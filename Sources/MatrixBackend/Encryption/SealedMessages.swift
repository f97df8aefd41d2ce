import ChatCore
import ChatStore
import Foundation
import JSONReading
import MatrixCrypto

/// Decrypts stored messages in place once their keys are available.
struct SealedMessages: Sendable {
    private static let chunk = 200
    /// Reasons for which the key may have arrived while the program could not use it.
    private static let mayBeReadable: Set<SealReason> = [
        .noKey, .beforeSignIn, .beforeKey, .beforeMembership, .unconfirmedDevice, .withheld, .unconfirmedSender,
        .unknownSender,
        // Another member may have sent the key before its owner.
        .otherSender,
        // A genuine key replaces a damaged one, or a forged one from a backup.
        .damaged,
    ]

    /// Reasons for which another device of the user may have the key.
    private static let mayBeInBackup: Set<SealReason> = [
        .noKey, .beforeSignIn, .beforeMembership, .unconfirmedDevice, .withheld, .damaged,
    ]
    /// Limits the requests at each start.
    private static let maxRequested = 200

    let keys: AccountEncryption
    let parser: HistoryParser
    let writer: RoomWriter

    private var store: ChatStore { writer.store }

    /// Decrypts messages whose keys have arrived, within a ``RoomWriter/serialized(_:)`` operation.
    /// - Parameter publishArrivals: Receives messages for which notifications were not sent before.
    func openArrived(_ publishArrivals: ([MessageArrival]) async throws -> Void) async throws {
        let arrived = await keys.arrivedSessions
        guard !arrived.isEmpty else { return }
        try await opening(arrived) {
            for session in arrived { try await open(SealedSession(session), publishArrivals) }
        }
    }

    /// Decrypts messages whose keys come from a backup or a file. They are not new: no notifications.
    func openImported(_ sessions: Set<SessionID>) async throws {
        try await opening(sessions) {
            try await writer.serialized { for session in sessions { try await open(SealedSession(session)) } }
        }
    }

    /// Runs an operation that decrypts the messages of sessions. If it fails, the next sync tries again.
    private func opening(_ sessions: Set<SessionID>, _ operation: () async throws -> Void) async throws {
        // Before the operation: the key of a session may arrive again meanwhile, beginning earlier.
        await keys.used(sessions)
        do {
            try await operation()
        } catch {
            await keys.noteArrived(sessions)
            throw error
        }
    }

    /// Decrypts what has become readable since the keys were last open: messages received while they were locked, or
    /// whose keys arrived right before the program ended.
    func openKnown() async throws {
        let without = try await hidden(for: [.keysLocked, .keysUnavailable, .notBuilt])
        let waiting = try await hidden(for: Self.mayBeReadable)
        let known = try await keys.known(Set(waiting.map { SessionID($0) }))
        for session in without.union(known.map { SealedSession($0) }) {
            try Task.checkCancellation()
            try await writer.serialized { try await open(session) }
        }
        // The backup may have received them since.
        let newest = try await store.newestSealedSessions(for: Self.mayBeInBackup, limit: Self.maxRequested)
        await keys.requestKeys(of: Set(newest.map { SessionID($0) }).subtracting(known))
    }

    /// Gives messages that another build could not read for want of its keys the reason that this one has no
    /// encryption. They would ask for the keyring otherwise.
    func noteNotBuilt() async throws {
        for session in try await hidden(for: [.keysLocked, .keysUnavailable]) {
            try Task.checkCancellation()
            try await writer.serialized { try await open(session) }
        }
    }

    /// Decrypts messages that were hidden because the devices of these users were unconfirmed or unknown.
    /// - Parameter publishArrivals: Receives what is to be notified of: messages that waited for the sender's devices.
    ///   Those of an unconfirmed device may be weeks old when it is confirmed.
    func openConfirmed(
        of users: Set<ExactText>, publishArrivals: ([MessageArrival]) async throws -> Void = { _ in }
    ) async throws {
        // Each new list of devices asks for this, and there may be any number of hidden messages of other users.
        guard try await keys.hasUnconfirmedSessions(of: users) else { return }
        let hidden = try await hidden(for: [.unconfirmedSender, .unknownSender])
        guard !hidden.isEmpty else { return }
        let unconfirmed = try await self.hidden(for: [.unconfirmedSender])
        let known = try await keys.known(Set(hidden.map { SessionID($0) }), of: users)
        for session in known.map({ SealedSession($0) }) {
            try Task.checkCancellation()
            let notifies = !unconfirmed.contains(session)
            try await writer.serialized {
                try await open(session) { if notifies { try await publishArrivals($0) } }
            }
        }
    }

    /// The sessions of stored messages, once the write in progress has ended: it may have decided on a message before
    /// the change that makes it readable, and not have stored it yet.
    private func hidden(for reasons: Set<SealReason>) async throws -> Set<SealedSession> {
        try await writer.serialized { try await store.sealedSessions(for: reasons) }
    }

    /// Replaces a message by its decrypted event, as requested from the server.
    func open(_ event: MatrixEvent, in room: RoomID) async throws {
        try await writer.serialized { _ = try await open([event], in: room) }
    }

    private func open(
        _ session: SealedSession, _ publishArrivals: ([MessageArrival]) async throws -> Void = { _ in }
    ) async throws {
        var last: MessageID?
        while true {
            let sealed = try await store.sealedEvents(of: session, after: last, limit: Self.chunk)
            guard let end = sealed.last else { return }
            // Chunk by chunk: once one is stored, no other attempt returns its arrivals.
            try await publishArrivals(open(sealed.compactMap(\.matrixEvent), in: session.room))
            last = end.event
        }
    }

    private func open(_ events: [MatrixEvent], in room: RoomID) async throws -> [MessageArrival] {
        guard !events.isEmpty else { return [] }
        let (again, audible) = try await parser.readAgain(events, in: room)
        let change = try await store.open(again, in: room)
        guard !change.changed.isEmpty || !change.removed.isEmpty else { return [] }
        await writer.publish(change)
        writer.rooms.refresh(room)
        return change.arrived.silenced(except: audible)
    }
}

extension Ciphertext {
    /// `nil` if the ciphertext is damaged or was not kept.
    var matrixEvent: MatrixEvent? {
        guard let data, let json = try? JSONValue(parsing: Data(data.utf8)) else { return nil }
        return MatrixEvent(json)
    }
}

extension SealedSession {
    fileprivate init(_ id: SessionID) { self.init(room: RoomID(id.room.text), session: id.session.text) }
}

extension SessionID {
    fileprivate init(_ session: SealedSession) {
        self.init(room: ExactText(session.room.rawValue), session: ExactText(session.session))
    }
}
