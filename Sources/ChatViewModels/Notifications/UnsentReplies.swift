public import ChatCore
import Foundation
public import Observation

/// What the user wrote into notifications of accounts that were not open. It is kept until it is in the draft of its
/// room; if the account or the room is gone, until the user says what becomes of it.
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
    ///   - texts: what was stored last. What is no reply is ignored: it comes from a newer version.
    ///   - store: stores the replies, one text for each, without line breaks.
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

    /// Forgets a reply that is in a draft, or that the user has copied or discarded.
    public func remove(_ reply: Reply) {
        if let index = replies.firstIndex(of: reply) { replies.remove(at: index) }
    }
}

extension UnsentReplies.Reply {
    /// The limit of characters that the question quotes.
    private nonisolated static let quotedCharacters = 500

    public nonisolated func heading(_ translator: Translator) -> String { translator("Reply Not Sent") }

    /// The question what becomes of a reply whose account or room is gone.
    nonisolated func body(isAccountGone: Bool, _ translator: Translator) -> String {
        let quoted = text.count > Self.quotedCharacters ? text.prefix(Self.quotedCharacters) + "…" : text
        return isAccountGone
            ? translator(
                "{account} is no longer on this computer. You wrote:\n\n{text}", ["account": account, "text": quoted])
            : translator("You are no longer in the room that you replied to. You wrote:\n\n{text}", ["text": quoted])
    }
}

extension AccountsCoordinator {
    /// The replies whose accounts or rooms are gone: nothing will send them.
    public var strandedReplies: [UnsentReplies.Reply] {
        guard hasAccountStates else { return [] }
        return unsentReplies.replies.filter { reply in
            !isListed(reply.account) || coordinator(of: reply.account)?.hasLeft(reply.room) ?? false
        }
    }

    /// The question what becomes of a stranded reply.
    public func question(about reply: UnsentReplies.Reply, _ translator: Translator) -> String {
        reply.body(isAccountGone: !isListed(reply.account), translator)
    }

    /// Keeps a reply whose account is not open.
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

    /// Moves the replies that wait for an account into the drafts of their rooms.
    func restoreReplies(to account: String, in coordinator: ConversationCoordinator) {
        for reply in unsentReplies.replies where reply.account == account {
            Task { [unsentReplies, time] in
                await time.wait(atMost: Self.connectingTimeout) { coordinator.rooms.state.isLoaded }
                // A draft of a room that is not listed would be out of sight.
                guard !coordinator.hasLeft(reply.room) else { return }
                if await coordinator.addToDraft(reply.text, of: reply.room) { unsentReplies.remove(reply) }
            }
        }
    }
}
