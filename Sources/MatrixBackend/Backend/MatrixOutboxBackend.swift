import ChatCore
import ChatOutbox
import ChatStore
import Composer
import Foundation
import JSONReading

/// Carries out what was queued at a homeserver.
///
/// Nothing is sent in the clear into a room that is encrypted, or of which that is not known.
struct MatrixOutboxBackend: OutboxBackend {
    /// The setting of a room that tells whether it is encrypted. Once it is, it stays so, whatever its state says later.
    static let encryptionSetting = "matrix.encrypted"

    let client: MatrixClient
    let store: ChatStore
    let ownUserID: MemberID
    /// How far the sync is.
    let syncStatus: SyncStatus
    /// Where files and posters of films lie until the server has them.
    let media: MediaArchive
    /// Where what was sent is found by its new name, so that it is not fetched.
    let fetched: MediaCache
    let now: @Sendable () -> Date
    /// Told of what the server took, before the outbox is.
    let onDelivery: @Sendable (OutboxRequest, Delivery) async -> Void

    /// What a request became at the server.
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
        var sent = try await existingMessages(transactions, of: request)
        if sent.count < transactions.count { try await send(message, request, as: transactions, to: &sent) }
        guard let first = sent[request.id] else { return nil }
        await onDelivery(request, .message(first))
        return first
    }

    /// - Parameter sent: what the server has of it.
    private func send(
        _ message: WrittenMessage, _ request: OutboxRequest, as transactions: [TransactionID],
        to sent: inout [TransactionID: MessageID]
    ) async throws {
        try await rejectIfEncrypted(request.room)
        let message = try await uploadingThumbnails(of: message)
        let contents = MessageContent(ownUserID: ownUserID).contents(of: message)
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
        // It is at the server now, whether or not it is here.
        _ = try? await fetched.store(file, as: uri, isMoved: false)
        return uri
    }

    /// A poster is not worth more than its film: what the server refuses is left out.
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
            // Sent, and not come back by the sync yet.
            throw DeliveryError.unreachable
        }
        guard !original.isDeleted else { throw DeliveryError.rejected(reason: "the message was deleted") }
        var repliedTo: Message?
        if let id = original.replyTo { repliedTo = try await store.messages([id], in: request.room).first }
        let content = MessageContent(ownUserID: ownUserID).edit(of: original, to: text, answering: repliedTo?.sender)
        try check(content)
        let id = try await client.send("m.room.message", content, to: request.room, transaction: request.id.rawValue)
        // As everyone else will read it.
        guard let messageText = content["m.new_content"].flatMap({ MessageText($0) }) else { return }
        var wording = messageText.wording
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
                    "m.reaction", MessageContent.reaction(text, to: target), to: request.room,
                    transaction: request.id.rawValue)
                await reportChange(.reaction(text), id.rawValue, of: target, request)
            } catch MatrixError.rejected(400, "M_DUPLICATE_ANNOTATION", _) {
                // It is there, and the sync brings it.
            }
            return
        }
        var id = try await store.reactionID(text, to: target, in: request.room, by: ownUserID)
        if id == nil { id = try await client.reaction(text, to: target, by: ownUserID, in: request.room) }
        if let id { try await redact(MessageID(id), request) }
    }

    private func rejectIfEncrypted(_ room: RoomID) async throws {
        var isEncrypted = try await store.setting(Self.encryptionSetting, of: room).map { $0 != "0" }
        // Before the sync has told all that happened meanwhile a room may be encrypted that is not known as that.
        if isEncrypted == nil || isEncrypted == false && !syncStatus.hasCaughtUp {
            isEncrypted = try await client.state("m.room.encryption", of: room) != nil
            if isEncrypted == true { try await store.set("1", for: Self.encryptionSetting, of: room) }
        }
        if isEncrypted != false { throw DeliveryError.rejected(reason: "the room is encrypted") }
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
    /// Whether a server takes an event with this content.
    var fitsEvent: Bool { (try? encoded().count) ?? .max <= MatrixLimits.contentBytes }
}

extension TransactionID {
    /// Itself, and others for what is sent with it.
    func first(_ count: Int) -> [TransactionID] {
        (0..<count).map { $0 == 0 ? self : TransactionID("\(rawValue).\($0)") }
    }
}

extension DeliveryError {
    init(_ error: MatrixError) {
        switch error {
        case .unreachable, .untrusted, .malformed: self = .unreachable
        case .busy(let retryAfter): self = .busy(retryAfter: retryAfter)
        // It waits for the next session of the same device.
        case .signedOut: self = .unreachable
        case .rejected(let status, let code, _): self = .rejected(reason: "\(status) \(code)")
        case .tooLarge: self = .unreachable
        }
    }
}
