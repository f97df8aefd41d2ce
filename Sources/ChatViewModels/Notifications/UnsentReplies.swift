public import ChatCore
import Foundation
public import Observation

/// Inline replies to notifications of accounts that were not open. Each is kept until it is in the room's draft, or, if
/// the account or room is gone, until the user decides what to do with it.
@Observable
@MainActor
public final class UnsentReplies {
    public nonisolated struct Reply: Equatable, Sendable, Codable {
        public let account: String
        let roomID: String
        public let text: String

        public var room: RoomID { RoomID(roomID) }

        init(_ text: String, to target: NotificationTarget) {
            (account, roomID, self.text) = (target.account, target.room.rawValue, text)
        }
    }

    /// Oldest first.
    public private(set) var replies: [Reply] {
        didSet { if replies != oldValue { store(texts) } }
    }
    @ObservationIgnored private let store: ([String]) -> Void

    /// - Parameters:
    ///   - texts: the stored replies. Malformed ones, from a newer version, are ignored.
    ///   - store: stores the replies, as one text without line breaks for each.
    public init(_ texts: [String] = [], store: @escaping ([String]) -> Void = { _ in }) {
        let decoder = JSONDecoder()
        replies = texts.compactMap { try? decoder.decode(Reply.self, from: Data($0.utf8)) }
        self.store = store
    }

    private var texts: [String] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Strings can always be encoded.
        return replies.compactMap { (try? encoder.encode($0)).map { String(decoding: $0, as: UTF8.self) } }
    }

    func add(_ reply: Reply) { replies.append(reply) }

    /// Removes a reply that is in a draft, or that the user has copied or discarded.
    public func remove(_ reply: Reply) {
        if let index = replies.firstIndex(of: reply) { replies.remove(at: index) }
    }
}

extension UnsentReplies.Reply {
    /// The maximum number of characters quoted in the question.
    private nonisolated static let quotedCharacters = 500

    public nonisolated func heading(_ translator: Translator) -> String { translator("Reply Not Sent") }

    /// The question what to do with a reply whose account or room is gone.
    nonisolated func body(isAccountGone: Bool, _ translator: Translator) -> String {
        let quoted = text.count > Self.quotedCharacters ? text.prefix(Self.quotedCharacters) + "…" : text
        return isAccountGone
            ? translator(
                "{account} is no longer on this computer. You wrote:\n\n{text}", ["account": account, "text": quoted])
            : translator("You are no longer in the room that you replied to. You wrote:\n\n{text}", ["text": quoted])
    }
}

extension AccountsCoordinator {
    /// The replies whose accounts or rooms are gone, so that they cannot be sent.
    public var strandedReplies: [UnsentReplies.Reply] {
        guard hasAccountStates else { return [] }
        return unsentReplies.replies.filter { reply in
            !isListed(reply.account) || coordinator(of: reply.account)?.hasLeft(reply.room) ?? false
        }
    }

    /// The question what to do with such a reply.
    public func question(about reply: UnsentReplies.Reply, _ translator: Translator) -> String {
        reply.body(isAccountGone: !isListed(reply.account), translator)
    }

    /// Keeps a reply to an account that is not open.
    func keep(_ text: String, answering target: NotificationTarget) {
        unsentReplies.add(UnsentReplies.Reply(text, to: target))
        guard isListed(target.account) else { return }
        let translator = local.environment.translator
        conversations.requests.show(
            .message(
                translator(
                    "Your reply was not sent: its account is not open. It will be in the room’s draft once the account opens."
                )))
    }

    /// Adds the replies kept for an account to the drafts of their rooms.
    func restoreReplies(to account: String, in coordinator: ConversationCoordinator) {
        for reply in unsentReplies.replies where reply.account == account {
            Task { [unsentReplies, time] in
                await time.wait(atMost: Self.connectingTimeout) { coordinator.rooms.state.isLoaded }
                // The user could not find a draft in a room that is not listed.
                guard !coordinator.hasLeft(reply.room) else { return }
                if await coordinator.addToDraft(reply.text, of: reply.room) { unsentReplies.remove(reply) }
            }
        }
    }
}
