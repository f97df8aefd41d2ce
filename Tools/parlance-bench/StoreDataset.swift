import ChatCore
import ChatStore
import Foundation
import ToolSupport

/// A deterministic store of a given number of messages, built once per folder.
struct StoreDataset {
    /// Increment to rebuild existing datasets after changing their content.
    private static let version = 1
    /// The rooms, unless others are asked for.
    static let rooms = roomIDs(200)
    static let members = (0..<500).map { number in
        Member(
            id: MemberID(number == 0 ? "own" : "member-\(number)"), displayName: "Member \(number)",
            kind: number == 0 ? .own : .person)
    }

    let count: Int
    let rooms: [RoomID]
    let membersPerRoom: Int
    /// Used as `XDG_DATA_HOME`; the store is in its `parlance` subfolder.
    let folder: URL

    var store: URL { folder.appendingPathComponent("parlance", isDirectory: true) }
    var perRoom: Int { count / rooms.count }

    init(count: Int, in folder: URL) {
        self.count = count
        rooms = Self.rooms
        membersPerRoom = Self.members.count
        self.folder = folder.appendingPathComponent("\(count)", isDirectory: true)
    }

    /// A store of `rooms` rooms with 20 members each.
    init(count: Int, rooms: Int, in folder: URL) {
        self.count = count
        self.rooms = Self.roomIDs(rooms)
        membersPerRoom = 20
        self.folder = folder.appendingPathComponent("\(rooms)-rooms", isDirectory: true)
    }

    private static func roomIDs(_ count: Int) -> [RoomID] { (0..<count).map { RoomID("room-\($0)") } }

    /// Words of two to twelve letters, the most frequent first.
    static let words: [String] = {
        var random = SeededGenerator(seed: 7)
        var seen: Set<String> = []
        var words: [String] = []
        let syllables = ["ka", "to", "mi", "re", "sol", "ne", "ha", "lin", "ber", "u", "po", "sta", "gra", "vi", "en"]
        while words.count < 20_000 {
            let word = (0..<Int.random(in: 1...5, using: &random))
                .map { _ in syllables.randomElement(using: &random) ?? "a" }.joined()
            if seen.insert(word).inserted { words.append(word) }
        }
        return words.sorted { ($0.count, $0) < ($1.count, $1) }
    }()

    /// Returns a random word, with frequencies roughly by Zipf's law.
    static func word(using random: inout SeededGenerator) -> String {
        let rank = pow(Double(words.count), Double.random(in: 0..<1, using: &random))
        return words[min(Int(rank), words.count - 1)]
    }

    static func text(using random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...25, using: &random)).map { _ in word(using: &random) }.joined(separator: " ")
    }

    static func messages(
        _ range: Range<Int>, in room: RoomID, of members: [Member] = members, using random: inout SeededGenerator
    ) -> [NewMessage] {
        range.map { number in
            let sender = members[Int(pow(Double(members.count), Double.random(in: 0..<1, using: &random))) - 1]
            return NewMessage(
                id: MessageID("$\(room)-\(number)-\(String(random.next(), radix: 36))"), sender: sender.id,
                text: text(using: &random), sentAt: Date(timeIntervalSince1970: 1_700_000_000 + Double(number) * 60))
        }
    }

    /// Builds the store unless the folder has one of this version.
    func make() async throws {
        let versionFile = folder.appendingPathComponent("version")
        // A version that cannot be read means building it again; if that fails, opening the store throws.
        if (try? String(contentsOf: versionFile, encoding: .utf8)) == "\(Self.version)" { return }
        try? FileManager.default.removeItem(at: folder)
        let store = try await ChatStore.open(in: store)
        let members = Array(Self.members.prefix(membersPerRoom))
        let newRooms = rooms.map { room in
            NewRoom(
                room: Room(id: room, name: "Room \(room)", kind: .group), members: members,
                createdAt: Date(timeIntervalSince1970: 1_700_000_000))
        }
        // Use the local backend's key for its initial rooms, so that it creates none.
        _ = try await store.createRooms(newRooms, once: "local.firstRooms")
        var random = SeededGenerator(seed: 2026)
        // Interleave the rooms, as real traffic does.
        for start in stride(from: 0, to: perRoom, by: 250) {
            for room in rooms {
                let range = start..<min(start + 250, perRoom)
                let messages = Self.messages(range, in: room, of: members, using: &random)
                _ = try await store.ingest(messages, into: room)
            }
        }
        await store.close()
        try Data("\(Self.version)".utf8).write(to: versionFile)
    }

    var bytes: Int {
        let path = store.appendingPathComponent("chat.sqlite").path
        // The store is open, so the file exists.
        return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
}

/// A failed check.
struct StoreFailure: Error, CustomStringConvertible {
    let description: String
}
