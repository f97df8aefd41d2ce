import ChatCore
import Foundation
import JSONReading
import Synchronization

@testable import MatrixBackend

/// A homeserver with one room that records the requests it receives, byte for byte.
final class RecordingHomeserver: Sendable {
    private struct State {
        var isSealed = false
        var sealed: [[UInt8]] = []
        var events: [JSONValue] = []
        var failures: [Failure] = []
        var count = 0
    }

    enum Failure {
        /// The request does not reach the server.
        case lost
        /// The request reaches the server, but the response is lost.
        case unanswered
    }

    private let state = Mutex(State())

    /// Starts recording: from here on, the account knows that the room is encrypted.
    func seal() { state.withLock { $0.isSealed = true } }
    /// Sets the failures of the next requests that send something, the last one first.
    func fail(_ failures: [Failure]) { state.withLock { $0.failures = failures } }

    /// All bytes received since ``seal()``.
    var sealedBytes: [[UInt8]] { state.withLock { $0.sealed } }
    /// The events on the server, as in a sync response.
    var events: [JSONValue] { state.withLock { $0.events } }

    func answer(_ request: MatrixRequest) -> JSONValue? {
        let path = request.url.path
        state.withLock { state in
            guard state.isSealed else { return }
            state.sealed.append(Array(request.url.absoluteString.utf8) + Self.bytes(of: request.body))
        }
        let isSent = request.method == .put || path.hasSuffix("/upload") && path.contains("/media/")
        let failure: Failure? = isSent ? state.withLock { $0.failures.popLast() } : nil
        if failure == .lost { return ["status": 502] }
        let answer = take(path, request)
        return failure == .unanswered ? ["status": 502] : answer
    }

    private func take(_ path: String, _ request: MatrixRequest) -> JSONValue? {
        if path.hasSuffix("/members") {
            return ["chunk": [Events.member("@me:example.org", "Me"), Events.member("@ann:example.org", "Ann")]]
        }
        if path.hasSuffix("/messages") { return ["chunk": .array(events.reversed())] }
        if path.hasSuffix("/kick") { return [:] }
        if request.method == .put, path.contains("/state/") { return ["event_id": .string("$state\(number)")] }
        if path.hasSuffix("/keys/query") { return ["device_keys": [:]] }
        if path.hasSuffix("/keys/claim") { return ["one_time_keys": [:]] }
        if path.hasSuffix("/keys/upload") {
            return ["one_time_key_counts": ["signed_curve25519": request.json?["one_time_keys"] == nil ? 0 : 25]]
        }
        if path.contains("/sendToDevice/") { return [:] }
        if path.hasSuffix("/upload") { return ["content_uri": .string("mxc://example.org/\(number)")] }
        if path.contains("/redact/") { return ["event_id": .string("$r\(number)")] }
        guard path.contains("/send/") else { return nil }
        return sent(Array(request.url.pathComponents.suffix(2)), request.json ?? [:])
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
