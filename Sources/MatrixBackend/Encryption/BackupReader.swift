import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// Reads an answer with keys of a backup while it is read from a file.
final class BackupReader: JSONReceiver {
    private let key: BackupKey
    /// Whose keys the answer has; `nil` for those of all rooms.
    private let room: ExactText?
    private var read: [ExportedSession] = []
    /// How many entries are no keys.
    private(set) var rejected = 0

    init(key: BackupKey, room: ExactText?) {
        self.key = key
        self.room = room
    }

    /// What was read since the last call.
    func takeSessions() -> [ExportedSession] {
        defer { read = [] }
        return read
    }

    /// The names on the way to the sessions; `nil` for the room's.
    private var names: [String?] { room == nil ? ["rooms", nil, "sessions"] : ["sessions"] }

    func entersContainer(at path: [JSONStep]) -> Bool {
        guard path.count <= names.count else { return false }
        return zip(path, names).allSatisfy { step, name in
            guard case .key(let key) = step else { return false }
            return name == nil || name == key
        }
    }

    func receive(_ value: JSONValue, at path: [JSONStep]) {
        guard path.count == names.count + 1, entersContainer(at: Array(path.dropLast())),
            case .key(let session)? = path.last
        else { return }
        var found = room
        if found == nil, case .key(let name) = path[1] { found = ExactText(name) }
        guard let found,
            let exported = try? ExportedSession(backedUp: value, room: found, id: ExactText(session), key: key)
        else { return rejected += 1 }
        read.append(exported)
    }

    func leaveContainer(at path: [JSONStep]) {}
}
