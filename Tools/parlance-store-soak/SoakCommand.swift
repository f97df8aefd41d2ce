import ChatStore
import Foundation
import Glibc

/// The parsed command line.
struct SoakCommand {
    enum Mode: Equatable {
        case help, kills, damage, outbox, sync, unread
        case sender(folder: String)
        case writer(folder: String)
        case open(folder: String)
    }

    struct UsageError: Error, CustomStringConvertible {
        let description: String
    }

    static let usage = """
        Usage: parlance-store-soak kills [--count N] [--seed N]
               parlance-store-soak damage [--count N] [--seed N]
               parlance-store-soak outbox [--count N] [--kills N] [--seed N]
               parlance-store-soak sync [--count N] [--seed N]
               parlance-store-soak unread [--count N] [--seed N]
               parlance-store-soak writer FOLDER
               parlance-store-soak sender FOLDER
               parlance-store-soak open FOLDER [--user UID]

        kills   kills a writing process N times (1000) at random points and looks for what it had acknowledged
        damage  opens N databases (500) with flipped bits, cut, overwritten or missing files, repairs them and looks for
                each draft and each queued request whose pages are intact
        outbox  sends N messages (10000) through a server that loses requests and answers, repeats, delays and refuses
                for a while, and kills the sending process (50 times): each arrives once and in order
        sync    tells N histories (1000) of a room in pieces that are cut, repeated and overlapping, and fills the gaps:
                what is kept is what the server has
        unread  tells N sequences (100000) of messages, deletions and read marks: the unread counts are those of a
                count of all messages
        sender  queues and sends messages over its standard input and output
        writer  opens a store and writes without end, printing each write once it is acknowledged
        open    opens a store, prints what came of it and closes it; as another user, if root asks for one

        Exit status 1 if anything was lost, doubled, out of order or crashed.
        """

    private(set) var mode = Mode.help
    private(set) var count: Int?
    private(set) var kills: Int?
    private(set) var seed: UInt64?
    private(set) var user: UInt32?

    init(arguments: [String]) throws {
        var rest = arguments[...]
        switch rest.popFirst() {
        case "kills": mode = .kills
        case "damage": mode = .damage
        case "outbox": mode = .outbox
        case "sync": mode = .sync
        case "unread": mode = .unread
        case "sender": mode = .sender(folder: try Self.folder(&rest))
        case "writer": mode = .writer(folder: try Self.folder(&rest))
        case "open": mode = .open(folder: try Self.folder(&rest))
        case "--help", "help": mode = .help
        case let other: throw UsageError(description: "unknown mode \(other ?? "")\n\(Self.usage)")
        }
        while let option = rest.popFirst() {
            guard let number = rest.popFirst().flatMap(UInt64.init) else {
                throw UsageError(description: "\(option) needs a number")
            }
            switch option {
            case "--count": count = Int(clamping: number)
            case "--kills": kills = Int(clamping: number)
            case "--seed": seed = number
            case "--user": user = UInt32(clamping: number)
            default: throw UsageError(description: "unknown option \(option)")
            }
        }
    }

    /// - Returns: Whether all checks passed.
    func run() async throws -> Bool {
        switch mode {
        case .help:
            print(Self.usage)
            return true
        case .kills:
            return try await KillRun(count: count ?? 1000, seed: seed ?? .random(in: 1...999_999)).run()
        case .damage:
            return try await DamageRun(count: count ?? 500, seed: seed ?? .random(in: 1...999_999)).run()
        case .outbox:
            return try OutboxRun(
                count: count ?? 10_000, kills: kills ?? 50, seed: seed ?? .random(in: 1...999_999)
            ).run()
        case .sync:
            return try await SyncRun(count: count ?? 1000, seed: seed ?? .random(in: 1...999_999)).run()
        case .unread:
            return try await UnreadRun(count: count ?? 100_000, seed: seed ?? .random(in: 1...999_999)).run()
        case .sender(let folder):
            try await OutboxSender(folder: URL(fileURLWithPath: folder, isDirectory: true)).run()
            return true
        case .writer(let folder):
            try await SoakWriter(folder: URL(fileURLWithPath: folder, isDirectory: true)).run()
            return true
        case .open(let folder):
            return try await open(URL(fileURLWithPath: folder, isDirectory: true))
        }
    }

    private func open(_ folder: URL) async throws -> Bool {
        if let user {
            guard setgroups(0, nil) == 0, setgid(user) == 0, setuid(user) == 0 else {
                throw UsageError(description: "cannot become user \(user)")
            }
        }
        do {
            await (try ChatStore.open(in: folder)).close()
            print("opened")
            return true
        } catch {
            print("\(error)")
            return false
        }
    }

    private static func folder(_ rest: inout ArraySlice<String>) throws -> String {
        guard let folder = rest.popFirst() else { throw UsageError(description: "a folder is missing") }
        return folder
    }
}
