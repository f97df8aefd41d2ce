import ChatCore
import ChatStore
import Foundation

/// A server's history of a room: messages of one member, edits, reactions, redactions of these, and state that is not
/// displayed; and the read markers of the user and of another member.
struct SyncLog {
    private enum Entry: Equatable {
        case message
        case edit(of: Int)
        case heart(on: Int)
        case deletion(of: Int)
        case state
    }

    /// A reader, and one of two kinds of receipts.
    struct ReceiptSource: Hashable, CaseIterable {
        static let allCases = [false, true].flatMap { isOwn in [0, 1].map { ReceiptSource(isOwn: isOwn, kind: $0) } }

        var isOwn: Bool
        var kind: Int
    }

    static let ownUserID = MemberID("@me:a")
    static let bob = MemberID("@bob:a")
    private static let ann = MemberID("@ann:a")

    let room: RoomID
    private var entries: [Entry] = []
    private var deleted: Set<Int> = []
    /// The last event that each has read, which only moves forward.
    private var receipts: [ReceiptSource: Int] = [:]
    private var readings = 0
    /// The number of events that syncs have returned or skipped.
    var syncedCount = 0

    var count: Int { entries.count }

    init(room: RoomID) { self.room = room }

    /// - Parameter below: Returns a random number from 0 up to, but not including, its argument.
    mutating func append(_ below: (Int) -> Int) {
        let choice = below(14)
        if choice >= 12 { return entries.append(.state) }
        guard choice >= 6, !entries.isEmpty else { return entries.append(.message) }
        // Mostly recent events.
        let index = max(0, entries.count - 1 - below(min(entries.count, 20)))
        if choice >= 10, !deleted.contains(index), !isDeletion(index) {
            deleted.insert(index)
            return entries.append(.deletion(of: index))
        }
        guard entries[index] == .message, !deleted.contains(index) else {
            return entries.append(.message)
        }
        entries.append(choice < 9 ? .edit(of: index) : .heart(on: index))
    }

    private func isDeletion(_ index: Int) -> Bool {
        switch entries[index] {
        case .deletion, .state: true
        case .message, .edit, .heart: false
        }
    }

    /// Moves a random reader forward to any event.
    mutating func addReceipt(_ below: (Int) -> Int, in batch: inout RoomBatch) {
        let source = ReceiptSource.allCases[below(ReceiptSource.allCases.count)]
        let first = receipts[source].map { $0 + 1 } ?? 0
        guard first < count else { return }
        let number = first + below(count - first)
        receipts[source] = number
        readings += 1
        if source.isOwn {
            batch.fullyReadMarkers.append(Self.id(number))
        } else {
            batch.receipts.append(
                ReadReceipt(
                    member: Self.bob, message: Self.id(number), readAt: Date(timeIntervalSince1970: Double(readings))))
        }
    }

    private func readPosition(isOwn: Bool) -> Int {
        receipts.filter { $0.key.isOwn == isOwn }.map(\.value).max() ?? -1
    }

    /// The number of the user's unread messages.
    var unread: Int {
        entries.indices.count { entries[$0] == .message && !deleted.contains($0) && $0 > readPosition(isOwn: true) }
    }

    /// The other member's last read message, or `nil` if there is none.
    var lastRead: Int? { message(upTo: readPosition(isOwn: false)) }

    /// Returns the last message up to an event.
    func message(upTo number: Int) -> Int? { entries.indices.last { $0 <= number && entries[$0] == .message } }

    func isMessage(_ id: MessageID) -> Bool {
        Self.number(of: id).map { entries[$0] == .message } ?? false
    }

    static func number(of id: MessageID?) -> Int? { id.flatMap { Int($0.rawValue.dropFirst()) } }

    /// Returns the server's response to the last entry if it is a change, else `nil`.
    /// - Parameter skew: Seconds by which the local clock is ahead.
    func acknowledgement(ofLast skew: Int) -> MessageChange? {
        guard case .change(var change)? = event(count - 1).last else { return nil }
        change.at += TimeInterval(skew)
        return change
    }

    /// Returns the current form of events, redacted ones without content.
    func events(_ range: Range<Int>) -> [TimelineEvent] { range.flatMap(event) }

    private func event(_ number: Int) -> [TimelineEvent] {
        var message = NewMessage(id: Self.id(number), sender: Self.ann, text: "\(number)", sentAt: time(number))
        func change(of target: Int, _ kind: MessageChange.Kind) -> [TimelineEvent] {
            var change = MessageChange(
                id: "$\(number)", target: Self.id(target), sender: Self.ann, at: time(number), kind: kind)
            if case .edit = kind { change.content = Self.contents(number) }
            return [.silent(Self.id(number)), .change(change)]
        }
        if deleted.contains(number) {
            if case .heart = entries[number] {
                return [.silent(Self.id(number)), .redacted(Self.id(number), at: time(number))]
            }
            message.text = ""
            return [.deleted(message)]
        }
        return switch entries[number] {
        case .message: [.message(message)]
        case .edit(let target): change(of: target, .edit(Wording("\(number)")))
        case .heart(let target): change(of: target, .reaction("❤️"))
        case .deletion(let target): change(of: target, .deletion)
        case .state: [.silent(Self.id(number))]
        }
    }

    static func id(_ number: Int) -> MessageID { MessageID("$\(number)") }

    /// Groups of events have the same timestamp.
    private func time(_ number: Int) -> Date { Date(timeIntervalSince1970: Double(number / 3 * 3)) }

    /// Returns the expected final timeline: each message with all its versions.
    func timeline() -> [String] {
        entries.indices.filter { entries[$0] == .message }.map { number in
            guard !deleted.contains(number) else { return Self.line(Self.id(number), nil, nil, hearts: 0) }
            let edits = entries.indices.filter { entries[$0] == .edit(of: number) && !deleted.contains($0) }
                .sorted { (time($0), Self.id($0).rawValue) < (time($1), Self.id($1).rawValue) }
            let last = edits.last.map(Self.contents) ?? MessageMedia(kind: .text, attachments: [])
            let isLoved = entries.indices.contains { entries[$0] == .heart(on: number) && !deleted.contains($0) }
            return Self.line(
                Self.id(number), ([number] + edits).map(String.init), last, hearts: isLoved ? 1 : 0)
        }
    }

    static func line(_ id: MessageID, _ versions: [String]?, _ contents: MessageMedia?, hearts: Int) -> String {
        let text = versions.map { ": " + $0.joined(separator: ">") } ?? " deleted"
        let what = contents.map { " \($0.kind)\($0.attachments.map(\.name))" } ?? ""
        return "\(id)\(text)\(what)\(hearts > 0 ? " ❤️" : "")"
    }

    /// Returns what an edit changes besides the text.
    private static func contents(_ edit: Int) -> MessageMedia {
        guard edit % 2 == 0 else { return MessageMedia(kind: .emote, attachments: []) }
        let file = MediaReference(uri: "mxc://a/\(edit)", name: "\(edit)", type: "image/png", bytes: edit)
        return MessageMedia(kind: .image, attachments: [file])
    }
}
