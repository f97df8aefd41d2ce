import ChatCore
import ChatStore
import Foundation
import ToolSupport

/// A numbered sequence of writes to a room: three drafts, then a message that removes the draft. Every second message
/// leaves another draft, as after a failed message. The number of the last write determines the room's content.
struct SoakSequence {
    static let rooms = [RoomID("a"), RoomID("b")]
    static let ownMember = Member(id: MemberID("own"), displayName: "Soak", kind: .own)

    let room: RoomID

    static func isMessage(_ number: Int) -> Bool { number % 4 == 0 }

    /// Texts of very different lengths, some of which need overflow pages.
    static func text(_ number: Int) -> String {
        "message \(number) " + String(repeating: "\(number % 10)", count: number * 7919 % 9000)
    }

    static func draft(_ number: Int) -> SavedDraft {
        SavedDraft(data: Data("draft \(number)".utf8), preview: "draft \(number)")
    }

    /// Returns the draft that a message leaves.
    static func remainingDraft(by number: Int) -> SavedDraft? {
        number > 0 && number % 8 == 0
            ? SavedDraft(data: Data("left by \(number)".utf8), preview: "left by \(number)") : nil
    }

    func write(_ number: Int, to store: ChatStore) async throws {
        guard Self.isMessage(number) else {
            _ = try await store.saveDraft(Self.draft(number), in: room)
            return
        }
        let new = NewMessage(
            id: MessageID("\(room)-\(number)"), sender: Self.ownMember.id, text: Self.text(number), sentAt: Date(),
            transactionID: TransactionID("\(number)"))
        _ = try await store.append([new], to: room, removingDraft: true, leaving: Self.remainingDraft(by: number))
    }

    /// Returns the number of the room's last write, or 0 if there is none.
    ///
    /// - Throws: ``SoakFailure`` if the room's content differs from what the writes up to that one produce.
    func lastWrite(in store: ChatStore) async throws -> Int {
        var messages: [Message] = []
        var before = Int64.max
        while true {
            let page = try await store.messages(in: room, before: before, limit: 500)
            messages = page.messages + messages
            guard page.hasOlder, let first = page.messages.first else { break }
            before = first.position
        }
        for (index, message) in messages.enumerated() {
            let number = (index + 1) * 4
            guard message.transactionID == TransactionID("\(number)"), message.position == Int64(index + 1) else {
                throw SoakFailure("message \(number) of room \(room) is lost, doubled or out of order")
            }
            guard message.text == Self.text(number) else {
                throw SoakFailure("message \(number) of room \(room) has another text")
            }
        }
        let sent = messages.count * 4
        let draft = try await store.draft(in: room)
        if draft == Self.remainingDraft(by: sent) { return sent }
        guard let draft else { throw SoakFailure("room \(room) has lost what message \(sent) left unsent") }
        let number = (1...3).map { sent + $0 }.first { Self.draft($0) == draft }
        guard let number else { throw SoakFailure("room \(room) has a draft from before its last message") }
        return number
    }
}
