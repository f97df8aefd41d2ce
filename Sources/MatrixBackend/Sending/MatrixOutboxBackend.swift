import ChatCore
import ChatOutbox
import ChatStore
import Composer
import Foundation
import JSONReading

/// Sends outbox requests to a homeserver.
///
/// Never sends into a room that is encrypted or whose encryption state is unknown.
struct MatrixOutboxBackend: OutboxBackend {
    private let client: MatrixClient
    private let store: ChatStore
    private let ownUserID: MemberID
    private let encryption: RoomEncryption
    private let repeats: RepeatedSends
    /// Files and video posters that are not uploaded yet.
    private let media: MediaArchive
    /// The download cache; uploaded files are added under their `mxc:` URI to avoid downloading them.
    private let fetched: MediaCache
    private let now: @Sendable () -> Date
    /// Called when the server has accepted a request, before the outbox removes it.
    private let onDelivery: @Sendable (OutboxRequest, Delivery) async -> Void

    init(
        client: MatrixClient, store: ChatStore, ownUserID: MemberID, syncStatus: SyncStatus, media: MediaArchive,
        fetched: MediaCache, now: @escaping @Sendable () -> Date,
        onDelivery: @escaping @Sendable (OutboxRequest, Delivery) async -> Void
    ) {
        self.client = client
        self.store = store
        self.ownUserID = ownUserID
        encryption = RoomEncryption(client: client, store: store, syncStatus: syncStatus)
        repeats = RepeatedSends(client: client, store: store, ownUserID: ownUserID, syncStatus: syncStatus, now: now)
        self.media = media
        self.fetched = fetched
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
        try await delivering {
            try await rejectIfEncrypted(request.room)
            guard let content = file.digest.flatMap(media.url) else { throw ChatError.unreadableFile }
            return try await upload(content, named: file.name, file.type, progress: progress)
        }
    }

    func deliver(_ request: OutboxRequest) async throws -> MessageID? {
        try await delivering {
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
                throw DeliveryError.rejected(reason: "the message it changes is not known to the server")
            }
            return nil
        }
    }

    private func send(_ message: WrittenMessage, _ request: OutboxRequest) async throws -> MessageID? {
        let transactions = request.id.first(max(message.files.count, 1))
        var sent = try await repeats.existingMessages(
            transactions, in: request.room, queuedAt: request.queuedAt)
        if sent.count < transactions.count { try await send(message, request, as: transactions, to: &sent) }
        guard let first = sent[request.id] else { return nil }
        await onDelivery(request, .message(first))
        return first
    }

    /// - Parameter sent: The events that the server has already; sent ones are added.
    private func send(
        _ message: WrittenMessage, _ request: OutboxRequest, as transactions: [TransactionID],
        to sent: inout [TransactionID: MessageID]
    ) async throws {
        try await rejectIfEncrypted(request.room)
        guard !message.files.contains(where: \.isEncrypted) else {
            throw DeliveryError.rejected(reason: "the key of an encrypted file must not be sent")
        }
        let message = try await uploadingThumbnails(of: message)
        let contents = EventContentBuilder(ownUserID: ownUserID).contents(of: message)
        try contents.forEach(check)
        for (transaction, content) in zip(transactions, contents) where sent[transaction] == nil {
            sent[transaction] = try await client.send(
                "m.room.message", content, to: request.room, transaction: transaction.rawValue)
        }
    }

    private func upload(
        _ file: URL, named name: String, _ type: String, progress: (@Sendable (Double) -> Void)? = nil
    ) async throws -> String {
        let uri = try await client.upload(file, named: name, type: type, progress: progress)
        // The server has the file: what cannot be cached is downloaded when it is displayed.
        _ = try? await fetched.store(file, as: uri, isMoved: false)
        return uri
    }

    /// Uploads posters of videos. If the server rejects a poster, the video is sent without it.
    private func uploadingThumbnails(of message: WrittenMessage) async throws -> WrittenMessage {
        var message = message
        for index in message.files.indices {
            guard let digest = message.files[index].thumbnailURI.flatMap(MediaReference.digest) else { continue }
            message.files[index].thumbnailURI = nil
            guard let file = media.url(of: digest) else { continue }
            do {
                message.files[index].thumbnailURI = try await upload(file, named: "poster.jpg", "image/jpeg")
            } catch MatrixError.rejected {
            }
        }
        return message
    }

    private func edit(_ target: MessageID, _ text: WrittenText, _ request: OutboxRequest) async throws {
        try await rejectIfEncrypted(request.room)
        guard let original = try await store.messages([target], in: request.room).first else {
            // Sent, but not returned by the sync yet.
            throw DeliveryError.unreachable
        }
        guard !original.isDeleted else { throw DeliveryError.rejected(reason: "the message was deleted") }
        var repliedTo: Message?
        if let id = original.replyTo { repliedTo = try await store.messages([id], in: request.room).first }
        let content = EventContentBuilder(ownUserID: ownUserID).edit(
            of: original, to: text, answering: repliedTo?.sender)
        try check(content)
        let id = try await client.send("m.room.message", content, to: request.room, transaction: request.id.rawValue)
        // Report the text as other clients will read it.
        guard let read = content["m.new_content"].flatMap({ Message.Content(json: $0) }) else { return }
        var wording = read.wording
        wording.written = text.unlessBlank
        await reportChange(.edit(wording), id.rawValue, of: target, request)
    }

    private func redact(_ target: MessageID, _ request: OutboxRequest) async throws {
        let id = try await client.redact(target.rawValue, in: request.room, transaction: request.id.rawValue)
        await reportChange(.deletion, id.rawValue, of: target, request)
    }

    private func reportChange(
        _ kind: MessageChange.Kind, _ id: String, of target: MessageID, _ request: OutboxRequest
    ) async {
        let change = MessageChange(id: id, target: target, sender: ownUserID, at: now(), kind: kind)
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
        if id == nil { id = try await client.reaction(text, to: target, by: ownUserID, in: request.room) }
        if let id { try await redact(MessageID(id), request) }
    }

    private func rejectIfEncrypted(_ room: RoomID) async throws {
        guard try await encryption.isCertainlyOff(in: room) else {
            throw DeliveryError.rejected(reason: "the room is encrypted")
        }
    }

    private func check(_ content: JSONValue) throws {
        guard content.fitsEvent else {
            throw DeliveryError.rejected(reason: "larger than an event may be")
        }
    }

    private func delivering<T>(_ work: () async throws -> T) async throws -> T {
        do {
            return try await work()
        } catch let error as MatrixError {
            throw DeliveryError(error)
        } catch ChatError.unreadableFile {
            throw DeliveryError.rejected(reason: "the file cannot be read")
        } catch ChatError.notFound {
            throw DeliveryError.rejected(reason: "the room was left")
        }
    }
}

extension JSONValue {
    /// Whether the content is within the size limit of events. Content that cannot be encoded is not.
    var fitsEvent: Bool { (try? encoded().count) ?? .max <= MatrixLimits.contentBytes }
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
        case .rejected(let status, let code, _): self = .rejected(reason: "\(status) \(code)")
        case .tooLarge: self = .unreachable
        }
    }
}
