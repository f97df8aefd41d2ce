import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Synchronization

@testable import MatrixBackend

/// A homeserver with one room that records the requests it receives, byte for byte.
final class RecordingHomeserver: Sendable {
    private struct State {
        /// Whether the account knows that the room is encrypted.
        var isSealed: @Sendable () -> Bool = { false }
        var sealed: [[UInt8]] = []
        var events: [JSONValue] = []
        var failures: [Failure] = []
        var count = 0
        var isEncrypted = false
        var deniesEncryption = false
        var afterNextEvent: (@Sendable () -> Void)?
        var members = [Events.member("@me:example.org", "Me"), Events.member("@ann:example.org", "Ann")]
        /// The devices of other users, and the responses to claims of their one-time keys.
        var readers: [Reader] = []
        /// What was sent to these devices, by transaction, in the order in which it came.
        var keyMessages: [(transaction: String, user: String, content: JSONValue)] = []
    }

    private struct Reader {
        let user: String
        let device: String
        var claims: [JSONValue]
    }

    enum Failure {
        /// The request does not reach the server.
        case lost
        /// The request reaches the server, but the response is lost.
        case unanswered
    }

    static let encryption = Events.event(
        "$crypt", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], stateKey: "")

    private let state = Mutex(State())

    /// Starts recording: from here on, the account knows that the room is encrypted.
    func seal() { seal { true } }
    /// Starts recording with the first request that begins when the condition holds; it holds from then on.
    func seal(when isSealed: @escaping @Sendable () -> Bool) { state.withLock { $0.isSealed = isSealed } }
    /// Sets the failures of the next requests that send something, the last one first.
    func fail(_ failures: [Failure]) { state.withLock { $0.failures = failures } }
    /// Sets what is done when the next event has reached the server, before its response.
    func afterNextEvent(_ work: @escaping @Sendable () -> Void) { state.withLock { $0.afterNextEvent = work } }

    /// Adds a user with one device.
    /// - Parameter isMember: Whether they have joined the room.
    func add(_ reader: ReadingDevice, named name: String, isMember: Bool = true) throws {
        let claims = try (0..<10).map { _ in try reader.claimed() }
        let (user, device) = (reader.device.user.text, reader.device.device.text)
        state.withLock { state in
            if isMember { state.members.append(Events.member(user, name)) }
            state.readers.append(Reader(user: user, device: device, claims: claims))
        }
    }

    /// Encrypts the room, as another member does.
    func encrypt() {
        state.withLock { state in
            if !state.isEncrypted { state.events.append(Self.encryption) }
            state.isEncrypted = true
        }
    }

    /// Makes the server lie about the encryption from here on.
    func denyEncryption() { state.withLock { $0.deniesEncryption = true } }

    var isEncrypted: Bool { state.withLock(\.isEncrypted) }
    var members: [JSONValue] { state.withLock(\.members) }
    /// All bytes of requests that began after ``seal()``.
    var sealedBytes: [[UInt8]] { state.withLock { $0.sealed } }
    /// The events on the server, as in a sync response.
    var events: [JSONValue] { state.withLock { $0.events } }
    /// The to-device messages for the devices of ``add(_:named:isMember:)``.
    var keyMessages: [JSONValue] { state.withLock { $0.keyMessages.map(\.content) } }

    func keyMessages(for reader: ReadingDevice) -> [JSONValue] {
        let user = reader.device.user.text
        return state.withLock { $0.keyMessages.filter { $0.user == user }.map(\.content) }
    }

    func answer(_ request: MatrixRequest) -> JSONValue? {
        let path = request.url.path
        if state.withLock({ $0.isSealed })() {
            let bytes = Array(request.url.absoluteString.utf8) + Self.bytes(of: request.body)
            state.withLock { $0.sealed.append(bytes) }
        }
        let isSent =
            request.method == .put || path.hasSuffix("/upload") && path.contains("/media/") || path.hasSuffix("/invite")
        let failure: Failure? = isSent ? state.withLock { $0.failures.popLast() } : nil
        if failure == .lost { return ["status": 502] }
        let answer = take(path, request)
        return failure == .unanswered ? ["status": 502] : answer
    }

    private func take(_ path: String, _ request: MatrixRequest) -> JSONValue? {
        if path.hasSuffix("/members") { return ["chunk": .array(members)] }
        if path.hasSuffix("/messages") { return ["chunk": .array(events.reversed())] }
        if path.hasSuffix("/kick") { return [:] }
        if path.hasSuffix("/invite") { return invited(request.json ?? [:]) }
        if path.contains("/state/m.room.encryption"), path.contains(EncryptedAccount.room.rawValue) {
            return encryption(request)
        }
        if request.method == .put, path.contains("/state/") { return ["event_id": .string("$state\(number)")] }
        if path.hasSuffix("/keys/query") { return ["device_keys": [:]] }
        if path.hasSuffix("/keys/claim") { return ["one_time_keys": claimed(request.json ?? [:])] }
        if path.hasSuffix("/keys/upload") {
            return ["one_time_key_counts": ["signed_curve25519": request.json?["one_time_keys"] == nil ? 0 : 25]]
        }
        if path.contains("/sendToDevice/") { return delivered(request) }
        if path.hasSuffix("/upload") { return ["content_uri": .string("mxc://example.org/\(number)")] }
        if path.contains("/redact/") { return ["event_id": .string("$r\(number)")] }
        guard path.contains("/send/") else { return nil }
        let answer = sent(Array(request.url.pathComponents.suffix(2)), request.json ?? [:])
        let work = state.withLock { state in
            defer { state.afterNextEvent = nil }
            return state.afterNextEvent
        }
        work?()
        return answer
    }

    private func invited(_ body: JSONValue) -> JSONValue {
        let user = body["user_id"]?.string ?? ""
        state.withLock { $0.members.append(Events.member(user, user, "invite")) }
        return [:]
    }

    /// Sets or returns the encryption. The account sends nothing unencrypted once it has asked to set it.
    private func encryption(_ request: MatrixRequest) -> JSONValue? {
        guard request.method == .put else {
            return state.withLock { $0.isEncrypted && !$0.deniesEncryption } ? Self.encryption["content"] : nil
        }
        encrypt()
        seal()
        return ["event_id": "$crypt"]
    }

    private func claimed(_ body: JSONValue) -> JSONValue {
        var users: [String: JSONValue] = [:]
        state.withLock { state in
            for (index, reader) in state.readers.enumerated()
            where body["one_time_keys"]?[reader.user]?[reader.device] != nil {
                guard let key = state.readers[index].claims.popLast() else { continue }
                users[reader.user] = .object([reader.device: key])
            }
        }
        return .object(users)
    }

    /// A repeated transaction delivers nothing.
    private func delivered(_ request: MatrixRequest) -> JSONValue {
        let path = Array(request.url.pathComponents.suffix(2))
        guard path[0] == "m.room.encrypted" else { return [:] }
        let messages = request.json?["messages"]
        state.withLock { state in
            guard !state.keyMessages.contains(where: { $0.transaction == path[1] }) else { return }
            for reader in state.readers {
                guard let content = messages?[reader.user]?[reader.device] else { continue }
                state.keyMessages.append((path[1], reader.user, content))
            }
        }
        return [:]
    }

    private var number: Int {
        state.withLock { state in
            state.count += 1
            return state.count
        }
    }

    /// A repeated transaction with the same event type returns the same event ID.
    private func sent(_ path: [String], _ content: JSONValue) -> JSONValue {
        let (type, transaction) = (path[0], path[1])
        let known = events.first {
            $0["type"]?.string == type && $0["unsigned"]?["transaction_id"]?.string == transaction
        }
        if let id = known?["event_id"] { return ["event_id": id] }
        let id = "$s\(number)"
        let event = Events.event(
            id, type, content, by: EncryptedAccount.user.rawValue, at: Int64(Date().timeIntervalSince1970 * 1000),
            unsigned: ["transaction_id": .string(transaction)])
        state.withLock { $0.events.append(event) }
        return ["event_id": .string(id)]
    }

    private static func bytes(of body: MatrixRequest.Body) -> [UInt8] {
        switch body {
        case .none: []
        case .json(let data): Array(data)
        case .file(let url, let type): Array(type.utf8) + Array((try? Data(contentsOf: url)) ?? Data())
        }
    }
}
