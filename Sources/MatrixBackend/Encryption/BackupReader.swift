package import ChatCore
import Foundation
package import JSONReading
package import MatrixCrypto
package import Ratchets

/// Parses a backup's keys while the response is read from a file.
package final class BackupReader: JSONReceiver {
    private let key: BackupKey
    /// The room whose keys the response contains; `nil` for all rooms.
    private let room: ExactText?
    private var read: [ExportedSession] = []
    /// The number of entries that are not valid keys.
    package private(set) var rejected = 0

    package init(key: BackupKey, room: ExactText?) {
        self.key = key
        self.room = room
    }

    /// Returns and removes the sessions parsed so far.
    package func takeSessions() -> [ExportedSession] {
        defer { read = [] }
        return read
    }

    /// The JSON keys that lead to the sessions; `nil` stands for any room ID.
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
