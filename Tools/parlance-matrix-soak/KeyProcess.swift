import ChatCore
import Foundation
import Glibc
import MatrixBackend
import Synchronization
import ToolSupport

/// A user whose processes are killed, one after another.
struct KeyProcess {
    /// How long a process may take for one command.
    private static let timeout: TimeInterval = 90

    let session: MatrixSession
    let isSliding: Bool
    let folder: URL
    let url: URL
    /// The session indices used by sent messages.
    let indices: UsedIndices
    private(set) var recoveryKey: String?
    /// The texts that all processes have queued.
    private(set) var queued: Set<String> = []
    /// The texts that it was asked to read and could not.
    private(set) var missing: Set<String> = []
    /// How the messages of the rooms read at the end.
    private(set) var readings: [String: KeyUser.Reading] = [:]
    private var child: ChildProcess?
    /// Whether the last process has ended.
    private(set) var hasDied = false

    init(_ session: MatrixSession, isSliding: Bool, folder: URL, url: URL, indices: UsedIndices) {
        (self.session, self.isSliding, self.folder) = (session, isSliding, folder)
        (self.url, self.indices) = (url, indices)
    }

    /// Starts a process and waits until it is ready. Blocks.
    /// - Returns: Whether the process is still alive.
    mutating func start(_ death: DyingTransport.Death? = nil) throws -> Bool {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let child = try ChildProcess(arguments: ["key-child", folder.path])
        self.child = child
        hasDied = false
        let words = [
            "begin", url.absoluteString, isSliding ? "1" : "0", session.user.rawValue, session.device,
            session.token.value, death?.words ?? "",
        ]
        child.send(words.joined(separator: " "))
        return try hear(until: "ready")
    }

    /// - Returns: Whether the process survived until it printed `end`.
    mutating func ask(_ line: String, until end: String) throws -> Bool {
        child?.send(line)
        return try hear(until: end)
    }

    /// Makes the process send a text, or wait for it if it is queued.
    mutating func say(_ text: String, in room: String) throws -> Bool {
        try ask("\(queued.contains(text) ? "wait" : "say") \(room) \(text)", until: "said \(text)")
    }

    /// Waits a while for the process to die, then kills it.
    /// - Returns: Whether it died by itself.
    mutating func end(after wait: TimeInterval) throws -> Bool {
        guard let pid = child?.pid else { return hasDied }
        let (alarm, hasRung) = Self.alarm(after: wait, of: pid)
        _ = try hear(until: "")
        alarm.cancel()
        return hasRung.value == false && hasDied
    }

    private mutating func hear(until end: String) throws -> Bool {
        guard let pid = child?.pid else { return false }
        let (alarm, hasRung) = Self.alarm(after: Self.timeout, of: pid)
        defer { alarm.cancel() }
        while let line = child?.nextLine() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "sealed": SealedIndex(words: Array(words.dropFirst())).map { indices.insert($0) }
            case "key": recoveryKey = words.dropFirst().joined(separator: " ")
            case "queued": queued.insert(words[1])
            case "missing": missing.insert(words[1])
            case "text": readings[words[1]] = .text(words.dropFirst(2).joined(separator: " "))
            case "unread": readings[words[1]] = .sealed(words[2])
            default: break
            }
            if line == end { return true }
        }
        let (_, wasKilled) = child?.killAndDrain() ?? ([], true)
        let signal = child?.lastSignal ?? 0
        child = nil
        hasDied = true
        if hasRung.value, end != "" { throw SoakFailure("\(session.user): nothing but “\(end)” was missing for 90 s") }
        guard wasKilled || signal == SIGKILL else { throw SoakFailure("\(session.user) ended by itself") }
        return false
    }

    /// Kills a process after a delay, unless canceled.
    private static func alarm(after wait: TimeInterval, of pid: pid_t) -> (alarm: DispatchWorkItem, hasRung: Flag) {
        let flag = Flag()
        let item = DispatchWorkItem {
            flag.value = true
            kill(pid, SIGKILL)
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + wait, execute: item)
        return (item, flag)
    }

    private final class Flag: Sendable {
        private let state = Mutex(false)
        var value: Bool {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }
}

/// The session indices used by sent messages, and whether any was used twice.
final class UsedIndices: Sendable {
    private struct Place: Hashable {
        let session: String
        let index: UInt64
    }

    private let digests = Mutex<[Place: Set<UInt64>]>([:])

    func insert(_ message: SealedIndex) {
        let place = Place(session: message.session, index: message.index)
        _ = digests.withLock { $0[place, default: []].insert(message.digest) }
    }

    var count: Int { digests.withLock { $0.count } }
    /// The number of skipped indices: unused ones before a used one.
    var skipped: Int {
        digests.withLock { digests in
            let lasts = Dictionary(digests.keys.map { ($0.session, $0.index) }, uniquingKeysWith: max)
            return lasts.values.reduce(0) { $0 + Int($1) + 1 } - digests.count
        }
    }
    /// The number of indices that were used for more than one message.
    var reused: Int { digests.withLock { $0.values.count { $0.count > 1 } } }
}
