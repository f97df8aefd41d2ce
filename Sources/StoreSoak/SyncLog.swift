import ChatCore
import ChatStore
import Foundation

/// What a server has of a room: messages of one member, edits and reactions of them, and deletions of all three.
struct SyncLog {
    private enum Entry: Equatable {
        case message
        case edit(of: Int)
        case heart(on: Int)
        case deletion(of: Int)
    }

    private static let ann = MemberID("@ann:a")

    private var entries: [Entry] = []
    private var deleted: Set<Int> = []
    /// How much of it a sync has told of.
    var told = 0

    var count: Int { entries.count }

    /// - Parameter below: a number from 0 to below its argument.
    mutating func append(_ below: (Int) -> Int) {
        let choice = below(12)
        guard choice >= 6, !entries.isEmpty else { return entries.append(.message) }
        // Of what was said lately, mostly.
        let place = max(0, entries.count - 1 - below(min(entries.count, 20)))
        if choice >= 10, !deleted.contains(place), !isDeletion(place) {
            deleted.insert(place)
            return entries.append(.deletion(of: place))
        }
        let isLoved = entries.indices.contains { entries[$0] == .heart(on: place) && !deleted.contains($0) }
        guard entries[place] == .message, !deleted.contains(place), choice < 9 || !isLoved else {
            return entries.append(.message)
        }
        entries.append(choice < 9 ? .edit(of: place) : .heart(on: place))
    }

    private func isDeletion(_ place: Int) -> Bool { if case .deletion = entries[place] { true } else { false } }

    func isMessage(_ id: MessageID) -> Bool {
        Self.number(of: id).map { entries[$0] == .message } ?? false
    }

    static func number(of id: MessageID?) -> Int? { id.flatMap { Int($0.rawValue.dropFirst()) } }

    /// What the server answers to the last entry, if it is a change; nil otherwise.
    /// - Parameter skew: seconds by which the clock of this computer is ahead.
    func acknowledgement(ofLast skew: Int) -> MessageChange? {
        guard case .change(var change)? = event(count - 1) else { return nil }
        change.at += TimeInterval(skew)
        return change
    }

    /// As the server tells them now: without their contents where they were deleted.
    func events(_ range: Range<Int>) -> [TimelineEvent] { range.compactMap(event) }

    private func event(_ number: Int) -> TimelineEvent? {
        var message = NewMessage(id: Self.id(number), sender: Self.ann, text: "\(number)", sentAt: time(number))
        func change(of target: Int, _ kind: MessageChange.Kind) -> TimelineEvent {
            .change(
                MessageChange(
                    id: "$\(number)", target: Self.id(target), sender: Self.ann, at: time(number), kind: kind))
        }
        if deleted.contains(number) {
            if case .heart = entries[number] { return nil }
            message.text = ""
            return .deleted(message)
        }
        return switch entries[number] {
        case .message: .message(message)
        case .edit(let target): change(of: target, .edit(text: "\(number)", formattedText: nil))
        case .heart(let target): change(of: target, .reaction("❤️"))
        case .deletion(let target): change(of: target, .deletion)
        }
    }

    private static func id(_ number: Int) -> MessageID { MessageID("$\(number)") }

    /// Some things happen at the same time.
    private func time(_ number: Int) -> Date { Date(timeIntervalSince1970: Double(number / 3 * 3)) }

    /// What there is to see in the end: of each message what it said, from the first on.
    func timeline() -> [String] {
        entries.indices.filter { entries[$0] == .message }.map { number in
            guard !deleted.contains(number) else { return Self.line(Self.id(number), nil, hearts: 0) }
            let edits = entries.indices.filter { entries[$0] == .edit(of: number) && !deleted.contains($0) }
                .sorted { (time($0), Self.id($0).rawValue) < (time($1), Self.id($1).rawValue) }
            let isLoved = entries.indices.contains { entries[$0] == .heart(on: number) && !deleted.contains($0) }
            return Self.line(Self.id(number), ([number] + edits).map(String.init), hearts: isLoved ? 1 : 0)
        }
    }

    static func line(_ id: MessageID, _ versions: [String]?, hearts: Int) -> String {
        "\(id)\(versions.map { ": " + $0.joined(separator: ">") } ?? " deleted")\(hearts > 0 ? " ❤️" : "")"
    }
}
