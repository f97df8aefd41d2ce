import Foundation
import Glibc
import JSONReading
import MatrixBackend
import Synchronization
import ToolSupport

/// Kills this process at a chosen moment of its key exchanges, and reports the session and index of each message that
/// it sends.
final class DyingTransport: MatrixTransport {
    /// The operation during which the process is killed.
    enum Moment: String, CaseIterable {
        case toDevice, upload, claim, share, backup, bootstrap

        func matches(_ request: MatrixRequest) -> Bool {
            let path = request.url.path
            switch self {
            case .toDevice: return path.hasSuffix("/sync")
            case .upload: return path.hasSuffix("/keys/upload")
            case .claim: return path.hasSuffix("/keys/claim")
            case .share: return path.contains("/sendToDevice/m.room.encrypted/")
            case .backup: return request.method == .put && path.hasSuffix("/room_keys/keys")
            case .bootstrap:
                let isAccountData = request.method == .put && path.contains("/account_data/m.")
                return isAccountData || path.hasSuffix("/device_signing/upload") || path.hasSuffix("/signatures/upload")
                    || request.method == .post && path.hasSuffix("/room_keys/version")
            }
        }
    }

    enum Phase: String, CaseIterable {
        /// Before the request is sent.
        case asking
        /// When the response has arrived, before it is processed.
        case answered
        /// While the response is processed.
        case later
    }

    struct Death {
        let moment: Moment
        let phase: Phase
        /// Which of the matching requests is meant, counted from 1.
        let number: Int
        /// The delay of ``Phase/later``, in microseconds.
        let delay: UInt32

        init(moment: Moment, phase: Phase, number: Int, delay: UInt32) {
            (self.moment, self.phase, self.number, self.delay) = (moment, phase, number, delay)
        }

        init?(_ words: [String]) {
            guard words.count == 4, let moment = Moment(rawValue: words[0]), let phase = Phase(rawValue: words[1]),
                let number = Int(words[2]), let delay = UInt32(words[3])
            else { return nil }
            self.init(moment: moment, phase: phase, number: number, delay: delay)
        }

        var words: String { "\(moment.rawValue) \(phase.rawValue) \(number) \(delay)" }
    }

    private let transport = HastyTransport(transport: CurlTransport())
    private let death: Death?
    private let report: @Sendable (SealedIndex) -> Void
    private let seen = Mutex((requests: 0, hasMessages: false))

    init(death: Death?, report: @escaping @Sendable (SealedIndex) -> Void) {
        self.death = death
        self.report = report
    }

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        note(request)
        guard let death, death.moment.matches(request) else { return try await transport.send(request) }
        guard death.moment != .toDevice else { return try await sync(request, death) }
        let number = seen.withLock { seen in
            seen.requests += 1
            return seen.requests
        }
        let isIt = number == death.number
        if isIt, death.phase == .asking { die() }
        let response = try await transport.send(request)
        if isIt { await die(with: death) }
        return response
    }

    /// Only syncs that deliver to-device messages count.
    private func sync(_ request: MatrixRequest, _ death: Death) async throws -> MatrixResponse {
        if death.phase == .asking, seen.withLock({ $0.hasMessages }) { die() }
        let response = try await transport.send(request)
        let answer = try? JSONValue(parsing: response.body)
        let events = answer?["to_device"]?["events"] ?? answer?["extensions"]?["to_device"]?["events"]
        guard events?.array?.isEmpty == false else { return response }
        seen.withLock { $0.hasMessages = true }
        await die(with: death)
        return response
    }

    private func die(with death: Death) async {
        switch death.phase {
        case .asking: break
        case .answered: die()
        case .later:
            Thread.detachNewThread {
                usleep(death.delay)
                kill(getpid(), SIGKILL)
            }
        }
    }

    private func die() { kill(getpid(), SIGKILL) }

    private func note(_ request: MatrixRequest) {
        guard request.url.path.contains("/send/m.room.encrypted/"), case .json(let body) = request.body,
            let content = try? JSONValue(parsing: body), let message = SealedIndex(content)
        else { return }
        report(message)
    }
}

/// The session and the index with which a message was encrypted.
struct SealedIndex: Hashable, Sendable {
    let session: String
    let index: UInt64
    /// The digest of the ciphertext.
    let digest: UInt64

    init?(words: [String]) {
        guard words.count == 3, let index = UInt64(words[1]), let digest = UInt64(words[2]) else { return nil }
        (session, self.index, self.digest) = (words[0], index, digest)
    }

    var words: String { "\(session) \(index) \(digest)" }

    /// - Parameter content: The content of an `m.room.encrypted`.
    init?(_ content: JSONValue) {
        guard let session = content["session_id"]?.string, let text = content["ciphertext"]?.string,
            let bytes = Data(base64Encoded: text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)),
            // The version, and the tag of the index field.
            bytes.starts(with: [3, 8])
        else { return nil }
        var index: UInt64 = 0
        for (place, byte) in bytes.dropFirst(2).prefix(5).enumerated() {
            index |= UInt64(byte & 0x7F) << (7 * UInt64(place))
            if byte < 0x80 { break }
        }
        self.session = session
        self.index = index
        // FNV-1a
        digest = bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
