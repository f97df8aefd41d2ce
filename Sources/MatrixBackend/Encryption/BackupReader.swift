package import ChatCore
import Foundation
package import JSONReading
package import MatrixCrypto
package import Ratchets

/// Reads an answer with keys of a backup while it is read from a file.
package final class BackupReader: JSONReceiver {
    private let key: BackupKey
    /// Whose keys the answer has; `nil` for those of all rooms.
    private let room: ExactText?
    private var read: [ExportedSession] = []
    /// How many entries are no keys.
    package private(set) var rejected = 0

    package init(key: BackupKey, room: ExactText?) {
        self.key = key
        self.room = room
    }

    /// What was read since the last call.
    package func takeSessions() -> [ExportedSession] {
        defer { read = [] }
        return read
    }

    /// The names on the way to the sessions; `nil` for the room's.
    private var names: [String?] { room == nil ? ["rooms", nil, "sessions"] : ["sessions"] }

    package func entersContainer(at path: [JSONStep]) -> Bool {
        guard path.count <= names.count else { return false }
        return zip(path, names).allSatisfy { step, name in
            guard case .key(let key) = step else { return false }
            return name == nil || name == key
        }
    }

    package func receive(_ value: JSONValue, at path: [JSONStep]) {
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

    package func leaveContainer(at path: [JSONStep]) {}
}
