import ChatCore
import ChatOutbox
import ChatStore
import Composer
import Foundation
import JSONReading
import MatrixCrypto

/// Sends outbox requests to a homeserver.
///
/// An event for an encrypted room is encrypted when it is sent, not when it is queued, and nothing is sent while a
/// room's encryption is unknown. Redactions, which have no content, and by convention reactions are not encrypted.
struct MatrixOutboxBackend: OutboxBackend {
    private let client: MatrixClient
    private let store: ChatStore
    private let ownUserID: MemberID
    private let encryption: RoomEncryption
    private let sealer: RoomSealer
    private let repeats: RepeatedSends
    private let uploads: MediaUploads
    private let keys: AccountEncryption
    private let fetcher: MessageFetcher
    private let now: @Sendable () -> Date
    /// Called when the server has accepted a request, before the outbox removes it.
    private let onDelivery: @Sendable (OutboxRequest, Delivery) async -> Void

    init(
        client: MatrixClient, store: ChatStore, context: AccountContext, syncStatus: SyncStatus,
        keys: AccountEncryption, media: MatrixMedia, gate: SerialGate, former: FormerAttempts? = nil,
        onDelivery: @escaping @Sendable (OutboxRequest, Delivery) async -> Void
    ) {
        self.client = client
        self.store = store
        let (ownUserID, now) = (context.ownUserID, context.now)
        self.ownUserID = ownUserID
        self.keys = keys
        let opener = EventOpener(keys: keys, store: store)
        fetcher = MessageFetcher(client: client, context: context, opener: opener)
        encryption = RoomEncryption(
            client: client, store: store, keys: keys, syncStatus: syncStatus, gate: gate)
        sealer = RoomSealer(keys: keys, client: client, ownUserID: ownUserID, syncStatus: syncStatus)
        repeats = RepeatedSends(
            client: client, store: store, opener: opener, ownUserID: ownUserID, syncStatus: syncStatus,
            former: former ?? FormerAttempts(store: store), uncertain: UncertainSends(store: store), now: now)
        uploads = MediaUploads(client: client, media: media)
        self.now = now
        self.onDelivery = onDelivery
    }

    /// What became of a request on the server.
    enum Delivery: Sendable {
        case message(MessageID)
        case change(MessageChange)
    }

    func upload(
        _ file: MediaReference, of request: OutboxRequest, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> String {
        try await delivering(isUpload: true) {
            let way = try await encryption.way(into: request.room)
            guard let content = file.digest.flatMap(uploads.media.archive.url) else { throw ChatError.unreadableFile }
            guard way == .clear else {
                try await sealer.requireReadiness()
                return try await uploads.upload(content, named: file.name, file.type, into: way, progress: progress)
            }
            return try await inTheClear(.upload, in: request.room) {
                try await uploads.upload(content, named: file.name, file.type, into: .clear, progress: progress)
            }
        }
    }

    /// Sends something unencrypted. An upload ends if the room becomes encrypted meanwhile.
    private func inTheClear<Value: Sendable>(
        _ kind: ClearAttempts.Kind, in room: RoomID, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await keys.clearAttempts.run(kind, in: room) {
            // If encryption was enabled meanwhile, the next attempt starts with the files.
            guard try await encryption.way(into: room) == .clear else { throw DeliveryError.unreachable }
            return try await work()
        }
    }

    func deliver(_ request: OutboxRequest) async throws -> MessageID? {
        let message = try await delivering { try await perform(request) }
        repeats.uncertain.noteDelivery(of: request)
        return message
    }

    private func perform(_ request: OutboxRequest) async throws -> MessageID? {
        switch request.action {
        case .send(let message): return try await send(message, request)
        case .edit(.message(let target), let text):
            try await edit(target, text, request)
        case .delete(.message(let target)):
            try await redact(target, request)
        case .react(.message(let target), let text, let isAdded):
            try await react(text, isAdded, to: target, request)
        case .unreadable: throw DeliveryError.rejected(reason: OutboxAction.unreadableReason)
        case .edit, .delete, .react:
            throw DeliveryReason.unknownMessage.error
        }
        return nil
    }

    private func send(_ message: WrittenMessage, _ request: OutboxRequest) async throws -> MessageID? {
        let transactions = request.id.first(max(message.files.count, 1))
        let wasClear = try await wasClear(request)
        var sent = try await repeats.existingMessages(transactions, of: request, wasClear: wasClear)
        if sent.count < transactions.count {
            let way = try await encryption.way(into: request.room)
            // The room may have become encrypted since: search again, for what an earlier attempt sent unencrypted.
            if !wasClear, try await self.wasClear(request) {
                sent = try await repeats.existingMessages(transactions, of: request, wasClear: true)
            }
            try await send(message, request, as: transactions, way, to: &sent)
        }
        guard let first = sent[request.id] else { return nil }
        await onDelivery(request, .message(first))
        return first
    }

    /// - Parameters:
    ///   - way: How the room's messages are sent. Before it was determined, what the server has was searched for.
    ///   - sent: The events that the server has already; sent ones are added.
    private func send(
        _ message: WrittenMessage, _ request: OutboxRequest, as transactions: [TransactionID],
        _ way: RoomEncryption.Way, to sent: inout [TransactionID: MessageID]
    ) async throws {
        guard sent.count < transactions.count else { return }
        switch way {
        case .clear: try rejectKeys(of: message)
        case .sealed: try await sealer.requireReadiness()
        }
        let builder = EventContentBuilder(ownUserID: ownUserID)
        // Before files are uploaded again: a former device has not sent them with their new addresses.
        let former = try await repeats.messagesOfFormerDevice(
            zip(transactions, builder.contents(of: message)).map { (transaction: $0, content: $1) }, of: request)
        sent.merge(former) { current, _ in current }
        guard sent.count < transactions.count else { return }
        let contents = builder.contents(of: try await uploadingAgain(message, in: request.room, way))
        try contents.forEach { try check($0, way) }
        for (transaction, content) in zip(transactions, contents) where sent[transaction] == nil {
            sent[transaction] = try await post(content, to: request.room, as: transaction, way)
        }
    }

    /// Uploads what each attempt uploads anew: posters, and for an encrypted room files that are not encrypted.
    private func uploadingAgain(
        _ message: WrittenMessage, in room: RoomID, _ way: RoomEncryption.Way
    ) async throws -> WrittenMessage {
        switch way {
        case .clear:
            guard message.hasLocalThumbnails else { return message }
            return try await inTheClear(.upload, in: room) {
                try await uploads.uploadingThumbnails(of: message, into: .clear)
            }
        case .sealed:
            if !message.files.isEmpty { try await sealer.prepare(in: room) }
            return try await uploads.uploadingThumbnails(of: uploads.sealingFiles(of: message), into: .sealed)
        }
    }

    /// Rejects encrypted files in an unencrypted message, which would disclose their keys to everyone in the room.
    private func rejectKeys(of message: WrittenMessage) throws {
        guard !message.files.contains(where: \.hasKeys) else {
            throw DeliveryReason.fileKeys.error
        }
    }

    /// Sends a message's event.
    /// - Parameter way: The encryption that the message's files were prepared for.
    private func post(
        _ content: JSONValue, to room: RoomID, as transaction: TransactionID, _ way: RoomEncryption.Way
    ) async throws -> MessageID {
        let type = "m.room.message"
        guard way == .sealed else {
            // This checks the way again, right before sending.
            return try await inTheClear(.event, in: room) {
                repeats.uncertain.notePosting(transaction, in: room)
                return try await client.send(type, content, to: room, transaction: transaction.rawValue)
            }
        }
        let sealed = try await sealer.sealed(type, content, in: room)
        try check(sealed, .clear)
        repeats.uncertain.notePosting(transaction, in: room)
        return try await client.send("m.room.encrypted", sealed, to: room, transaction: transaction.rawValue)
    }

    /// Whether an earlier attempt may have sent the request unencrypted into a room that is encrypted now.
    private func wasClear(_ request: OutboxRequest) async throws -> Bool {
        guard let room = try await keys.encryptedRoom(request.room) else { return false }
        // The clock may have been set back in between.
        let earliest = request.queuedAt.addingTimeInterval(-RepeatedSends.clockSkew)
        return Int64(earliest.timeIntervalSince1970 * 1000) <= room.firstSeen
    }

    private func edit(_ target: MessageID, _ text: WrittenText, _ request: OutboxRequest) async throws {
        let way = try await encryption.way(into: request.room)
        let original = try await original(target, in: request.room, way)
        guard !original.isDeleted else { throw DeliveryReason.deletedMessage.error }
        var repliedTo: Message?
        if let id = original.replyTo { repliedTo = try await store.messages([id], in: request.room).first }
        let content = EventContentBuilder(ownUserID: ownUserID).edit(
            of: original, to: text, answering: repliedTo?.sender)
        if way == .clear { try rejectKeys(of: WrittenMessage(text, kind: original.kind, files: original.attachments)) }
        try check(content, way)
        // An earlier attempt may have brought it to the server before the room became encrypted.
        var sent: MessageID?
        if way == .sealed, try await wasClear(request) {
            sent = try await repeats.existingMessages([request.id], of: request, wasClear: true)[request.id]
        }
        let id = if let sent { sent } else { try await post(content, to: request.room, as: request.id, way) }
        // Report the text as other clients will read it.
        guard let read = content["m.new_content"].flatMap({ Message.Content(json: $0) }) else { return }
        var wording = read.wording
        wording.written = text.unlessBlank
        await reportChange(.edit(wording), id.rawValue, of: target, request, isEncrypted: way == .sealed && sent == nil)
    }

    /// Returns a message that is to be edited. The sync may not have returned it yet, or skipped it: waiting for it would
    /// then hold up everything after the edit.
    private func original(_ id: MessageID, in room: RoomID, _ way: RoomEncryption.Way) async throws -> Message {
        if let stored = try await store.messages([id], in: room).first { return stored }
        // Without keys, it could not be read.
        if way == .sealed { try await sealer.requireReadiness() }
        // An edit repeats the message's files and mentions: they must be the user's own, not a server's.
        guard let fetched = try await fetcher.message(id, in: room), fetched.sender == ownUserID,
            way == .clear || fetched.trust != .notEncrypted
        else { throw DeliveryReason.unreadableMessage.error }
        // The warning of the own identity may hide that a file of the message was not encrypted.
        if way == .sealed, fetched.trust == .changedIdentity { throw DeliveryReason.ownIdentityReplaced.error }
        return fetched
    }

    private func redact(_ target: MessageID, _ request: OutboxRequest) async throws {
        let id = try await client.redact(target.rawValue, in: request.room, transaction: request.id.rawValue)
        await reportChange(.deletion, id.rawValue, of: target, request)
    }

    private func reportChange(
        _ kind: MessageChange.Kind, _ id: String, of target: MessageID, _ request: OutboxRequest,
        isEncrypted: Bool = false
    ) async {
        var change = MessageChange(id: id, target: target, sender: ownUserID, at: now(), kind: kind)
        change.isEncrypted = isEncrypted
        await onDelivery(request, .change(change))
    }

    private func react(
        _ text: String, _ isAdded: Bool, to target: MessageID, _ request: OutboxRequest
    ) async throws {
        if isAdded {
            do {
                let id = try await client.send(
                    "m.reaction", EventContentBuilder.reaction(text, to: target), to: request.room,
                    transaction: request.id.rawValue)
                await reportChange(.reaction(text), id.rawValue, of: target, request)
            } catch MatrixError.rejected(400, "M_DUPLICATE_ANNOTATION", _) {
                // The reaction exists already; the sync returns it.
            }
            return
        }
        var id = try await store.reactionID(text, to: target, in: request.room, by: ownUserID)
        if id == nil { id = try await searchReaction(text, to: target, in: request.room) }
        if let id { try await redact(MessageID(id), request) }
    }

    private func searchReaction(_ text: String, to target: MessageID, in room: RoomID) async throws -> String? {
        do {
            return try await client.reaction(text, to: target, by: ownUserID, in: room)
        } catch MatrixError.rejected(404, "M_UNRECOGNIZED", _) {
            // A server older than Matrix 1.3 does not know this request, and what is queued behind it must not wait.
            throw DeliveryError.rejected(reason: "404 M_UNRECOGNIZED")
        }
    }

    private func check(_ content: JSONValue, _ way: RoomEncryption.Way) throws {
        let fits = way == .clear ? content.fitsEvent : content.fitsSealed
        guard fits else { throw DeliveryReason.messageTooLong.error }
    }

    private func delivering<T>(isUpload: Bool = false, _ work: () async throws -> T) async throws -> T {
        do {
            return try await work()
        } catch MatrixError.rejected(let status, let code, _)
            where isUpload && ["M_UNRECOGNIZED", "M_RESOURCE_LIMIT_EXCEEDED"].contains(code)
        {
            // A server without a store of files, or with a limit: each attempt would send the whole file in vain.
            throw DeliveryError.rejected(reason: "\(status) \(code)")
        } catch let error as MatrixError {
            throw DeliveryError(error)
        } catch ChatError.unreadableFile {
            throw DeliveryReason.unreadableFile.error
        } catch ChatError.notFound {
            throw DeliveryReason.roomLeft.error
        } catch StoreOpeningError.damaged {
            throw DeliveryReason.unreadableEncryption.error
        }
    }
}

extension WrittenMessage {
    /// Whether posters have to be uploaded.
    fileprivate var hasLocalThumbnails: Bool {
        files.contains { $0.thumbnailURI.flatMap(MediaReference.digest) != nil }
    }
}

extension JSONValue {
    /// Whether the content is within the size limit of events. Content that cannot be encoded is not.
    var fitsEvent: Bool { (try? encoded().count) ?? .max <= MatrixLimits.contentBytes }
    /// Whether the content stays within the server's limit after encryption.
    var fitsSealed: Bool { (try? encoded().count) ?? .max <= MatrixLimits.sealedContentBytes }
}

extension TransactionID {
    /// The transaction ID itself, then derived ones for further events of the same request.
    func first(_ count: Int) -> [TransactionID] {
        (0..<count).map { $0 == 0 ? self : TransactionID("\(rawValue).\($0)") }
    }
}

extension DeliveryError {
    init(_ error: MatrixError) {
        switch error {
        case .unreachable, .untrusted, .malformed: self = .unreachable
        case .busy(let retryAfter): self = .busy(retryAfter: retryAfter)
        // Waits for the next session of the same device.
        case .signedOut: self = .unreachable
        // Says nothing of this request.
        case .rejected where error.isBlockedForNow: self = .unreachable
        case .rejected(let status, let code, _): self = .rejected(reason: "\(status) \(code)")
        case .tooLarge: self = .unreachable
        }
    }
}
