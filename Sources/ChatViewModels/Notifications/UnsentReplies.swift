public import ChatCore
import Foundation
public import Observation

/// What the user has written and no room has yet, on the disk from the first moment: inline replies to notifications,
/// until they are sent or in the room's draft, and messages whose room was left before they were stored. Those whose
/// account or room is gone stay until the user decides what to do with them.
@Observable
@MainActor
public final class UnsentReplies {
    public nonisolated struct Reply: Identifiable, Equatable, Sendable, Codable {
        /// How far a reply has come, as the next start finds it.
        nonisolated enum Stage: String, Codable, Sendable {
            /// It is being sent, as ``Reply/transaction``: sending it again stores it once.
            case sending
            /// It could not be sent, and is for the draft.
            case waiting
            /// It is being added to the draft, which may have it already.
            case joiningDraft
        }

        public private(set) var id: String
        public let account: String
        let roomID: String
        /// The message that the notification was about.
        let messageID: String?
        public let text: String
        /// Whether it was written in the room's composer.
        let isComposed: Bool
        /// In milliseconds since 1970.
        private(set) var writtenAt: Int64
        private(set) var stage: Stage

        public var room: RoomID { RoomID(roomID) }
        var transaction: TransactionID { TransactionID(id) }
        var target: NotificationTarget {
            NotificationTarget(account: account, room: room, message: messageID.map { MessageID($0) })
        }

        init(
            _ text: String, to target: NotificationTarget, isComposed: Bool = false, stage: Stage = .waiting,
            at date: Date = Date()
        ) {
            id = UUID().uuidString.lowercased()
            (account, roomID) = (target.account, target.room.rawValue)
            messageID = target.message?.rawValue
            self.text = text
            self.isComposed = isComposed
            writtenAt = Int64(date.timeIntervalSince1970 * 1000)
            self.stage = stage
        }

        /// Earlier versions stored the account, the room and the text alone, of replies for the draft.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decodeIfPresent(String.self, forKey: .id) ?? UUID().uuidString.lowercased()
            account = try values.decode(String.self, forKey: .account)
            roomID = try values.decode(String.self, forKey: .roomID)
            messageID = try values.decodeIfPresent(String.self, forKey: .messageID)
            text = try values.decode(String.self, forKey: .text)
            isComposed = try values.decodeIfPresent(Bool.self, forKey: .isComposed) ?? false
            writtenAt = try values.decodeIfPresent(Int64.self, forKey: .writtenAt) ?? 0
            stage = try values.decodeIfPresent(Stage.self, forKey: .stage) ?? .waiting
        }

        private nonisolated enum CodingKeys: String, CodingKey {
            case id, account, roomID, messageID, text, isComposed, writtenAt, stage
        }

        /// The reply at another stage.
        func at(_ stage: Stage) -> Reply {
            var reply = self
            reply.stage = stage
            return reply
        }

        /// The reply of an earlier version, which had neither an identifier nor a time, as one of several.
        fileprivate func numbered(_ number: Int) -> Reply {
            var reply = self
            (reply.id, reply.writtenAt) = ("earlier-\(number)", Int64(number))
            return reply
        }
    }

    /// Oldest first.
    public private(set) var replies: [Reply] = []
    /// The replies that are being sent or added to a draft: nobody else may begin with them.
    private var delivered: Set<Reply.ID> = []
    /// Those removed since the start, which may still be on the disk.
    @ObservationIgnored private var removed: Set<Reply.ID> = []
    /// The stages on the disk: what could not be written stays as it was there.
    @ObservationIgnored private var storedStages: [Reply.ID: Reply.Stage] = [:]
    @ObservationIgnored private let folder: UnsentReplyFolder?
    @ObservationIgnored private let onFailure: () -> Void
    @ObservationIgnored private let writes = DeliveryQueue()

    /// - Parameters:
    ///   - folder: stores the replies; `nil` keeps them in memory alone.
    ///   - onFailure: called when one could not be stored. It stays in memory.
    public init(in folder: UnsentReplyFolder? = nil, onFailure: @escaping () -> Void = {}) {
        self.folder = folder
        self.onFailure = onFailure
    }

    /// Adds what is stored. Call it once no other process writes any more.
    public func load() async {
        await writes.finish()
        guard let stored = await folder?.replies() else { return }
        for reply in stored { storedStages[reply.id] = reply.stage }
        let known = removed.union(replies.map(\.id))
        replies = stored.filter { !known.contains($0.id) } + replies
    }

    /// Adds replies in the form of earlier versions, each as a text. Those that were added before are not added again:
    /// they are known by their place in the list.
    /// - Returns: the texts to keep, which are not stored here: malformed ones, and those that could not be written.
    ///   Each of the others is empty in its place.
    @discardableResult
    public func adopt(_ texts: [String]) async -> [String] {
        let decoder = JSONDecoder()
        var adopted: [Int: Reply.ID] = [:]
        for (number, text) in texts.enumerated() {
            guard let reply = try? decoder.decode(Reply.self, from: Data(text.utf8)).numbered(number) else { continue }
            adopted[number] = reply.id
            if let known = replies.first(where: { $0.id == reply.id }) {
                if !isStored(known.id) { store(known) }
            } else if !removed.contains(reply.id) {
                add(reply)
            }
        }
        await flush()
        return texts.enumerated().map { number, text in
            guard let id = adopted[number] else { return text }
            return isStored(id) || removed.contains(id) ? "" : text
        }
    }

    /// Stores an answer to a notification.
    /// - Returns: `nil` for a blank text.
    public func accept(_ text: String, answering target: NotificationTarget) -> Reply? {
        guard !text.allSatisfy(\.isWhitespace) else { return nil }
        let reply = Reply(text, to: target, stage: .sending)
        add(reply)
        return reply
    }

    func add(_ reply: Reply) {
        replies.append(reply)
        store(reply)
    }

    /// Adds what was written in a room that the user is no longer in, unless it is there: the store and the composer may
    /// both have had it.
    func keep(_ text: String, in target: NotificationTarget) {
        let isThere = replies.contains { reply in
            reply.isComposed && reply.account == target.account && reply.room == target.room
                && "\n\n\(reply.text)\n\n".contains("\n\n\(text)\n\n")
        }
        if !isThere { add(Reply(text, to: target, isComposed: true)) }
    }

    /// Records how far a reply has come. Returns once that is stored.
    /// - Returns: `false` if the disk still has an earlier stage, from which the next start goes on: then the reply is
    ///   at that stage. Also `false` if it was removed.
    @discardableResult
    func move(_ reply: Reply, to stage: Reply.Stage) async -> Bool {
        guard let current = replies.first(where: { $0.id == reply.id }) else { return false }
        guard current.stage != stage else { return true }
        let moved = current.at(stage)
        replace(with: moved)
        store(moved)
        await flush()
        // A reply that could never be written is in memory alone: no start goes on with it.
        if let stored = storedStages[reply.id], stored != stage {
            replace(with: moved.at(stored))
            return false
        }
        return replies.contains { $0.id == reply.id }
    }

    private func replace(with reply: Reply) {
        if let index = replies.firstIndex(where: { $0.id == reply.id }) { replies[index] = reply }
    }

    /// Removes a reply that was sent or is in a draft, or that the user has copied or discarded.
    public func remove(_ reply: Reply) {
        removed.insert(reply.id)
        replies.removeAll { $0.id == reply.id }
        writes.add { [weak self, folder] in
            await folder?.remove(reply.id)
            self?.storedStages[reply.id] = nil
        }
    }

    /// Returns when all changes are stored, or have failed.
    public func flush() async { await writes.finish() }

    private func store(_ reply: Reply) {
        guard let folder else { return }
        writes.add { [weak self, onFailure] in
            do {
                try await folder.put(reply)
                self?.storedStages[reply.id] = reply.stage
            } catch {
                onFailure()
            }
        }
    }

    private func isStored(_ id: Reply.ID) -> Bool { folder == nil || storedStages[id] != nil }

    // MARK: Delivering

    func isBeingDelivered(_ id: Reply.ID) -> Bool { delivered.contains(id) }

    /// Begins to send a reply or to add it to a draft.
    /// - Returns: the reply as it is now, or `nil` if that was done, or is under way.
    func beginDelivery(of reply: Reply) -> Reply? {
        guard let current = replies.first(where: { $0.id == reply.id }), delivered.insert(reply.id).inserted
        else { return nil }
        return current
    }

    func endDelivery(of reply: Reply) { delivered.remove(reply.id) }
}

extension UnsentReplies.Reply {
    /// The maximum number of characters quoted in the question.
    private nonisolated static let quotedCharacters = 500

    public nonisolated func heading(_ translator: Translator) -> String {
        isComposed ? translator("Message Not Sent") : translator("Reply Not Sent")
    }

    /// The question what to do with a reply whose account or room is gone.
    nonisolated func body(isAccountGone: Bool, _ translator: Translator) -> String {
        let quoted = text.count > Self.quotedCharacters ? text.prefix(Self.quotedCharacters) + "…" : text
        if isAccountGone {
            return translator(
                "{account} is no longer on this computer. You wrote:\n\n{text}", ["account": account, "text": quoted])
        }
        return isComposed
            ? translator("You are no longer in the room that you wrote to. You wrote:\n\n{text}", ["text": quoted])
            : translator("You are no longer in the room that you replied to. You wrote:\n\n{text}", ["text": quoted])
    }
}

extension AccountsCoordinator {
    /// The replies whose accounts or rooms are gone, so that they cannot be sent.
    public var strandedReplies: [UnsentReplies.Reply] {
        guard hasAccountStates else { return [] }
        return unsentReplies.replies.filter { reply in
            guard !unsentReplies.isBeingDelivered(reply.id) else { return false }
            return !isListed(reply.account) || coordinator(of: reply.account)?.hasLeft(reply.room) ?? false
        }
    }

    /// The question what to do with such a reply.
    public func question(about reply: UnsentReplies.Reply, _ translator: Translator) -> String {
        reply.body(isAccountGone: !isListed(reply.account), translator)
    }

    /// Says that a reply waits for its account to be opened.
    func noteWaiting(_ reply: UnsentReplies.Reply) {
        guard isListed(reply.account) else { return }
        let translator = local.environment.translator
        conversations.requests.show(
            .message(
                translator(
                    "Your reply was not sent: its account is not open. It will be in the room’s draft once the account opens."
                )))
    }

    /// The longest that a delivery is waited for, which itself waits for an account, its rooms and a draft.
    private static let deliveryTimeout = Duration.seconds(30)

    /// Goes on with the replies kept for an account, which has been opened, one after the other.
    func restoreReplies(to account: String, in coordinator: ConversationCoordinator) {
        let ids = unsentReplies.replies.filter { $0.account == account }.map(\.id)
        guard !ids.isEmpty else { return }
        Task { [weak self] in
            for id in ids { await self?.resume(id, in: coordinator) }
        }
    }

    private func resume(_ id: UnsentReplies.Reply.ID, in coordinator: ConversationCoordinator) async {
        // The session before this one in the same process may still be at it, over a store that is closed.
        if unsentReplies.isBeingDelivered(id) {
            await time.wait(atMost: Self.deliveryTimeout) { [unsentReplies] in !unsentReplies.isBeingDelivered(id) }
        }
        guard let reply = unsentReplies.replies.first(where: { $0.id == id }) else { return }
        if reply.stage == .sending {
            // The program ended while this was being sent: nobody was told that it would be in the draft.
            await deliver(reply)
        } else {
            await restore(reply, in: coordinator)
        }
    }

    private func restore(_ reply: UnsentReplies.Reply, in coordinator: ConversationCoordinator) async {
        guard let reply = unsentReplies.beginDelivery(of: reply) else { return }
        defer { unsentReplies.endDelivery(of: reply) }
        await time.wait(atMost: Self.connectingTimeout) { coordinator.rooms.state.isLoaded }
        await addToDraft(reply, in: coordinator)
    }

    /// Moves a reply to the draft of its room. Call it while the reply is being delivered.
    func addToDraft(_ reply: UnsentReplies.Reply, in coordinator: ConversationCoordinator) async {
        // The user could not find a draft in a room that is not listed.
        guard !coordinator.hasLeft(reply.room) else { return }
        // An earlier process may have ended between storing the draft and removing the reply.
        let mayBeThere = reply.stage == .joiningDraft
        // Otherwise the next start would send what the user has already sent from the draft.
        guard await unsentReplies.move(reply, to: .joiningDraft) else { return }
        let isStored = await coordinator.addToDraft(
            reply.text, of: reply.room, unlessThere: mayBeThere,
            onStoredLater: { [unsentReplies] in unsentReplies.remove(reply) })
        if isStored { unsentReplies.remove(reply) }
    }
}
