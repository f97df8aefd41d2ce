import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import ToolSupport

@testable import MatrixBackend

/// Which other Matrix client a test talks to.
enum PeerClient: String {
    /// matrix-nio, which has no identities: a test makes one for it (`build-aux/matrix_peer.py`).
    case nio = "PARLANCE_MATRIX_PEER"
    /// matrix-rust-sdk under its strictest settings (`build-aux/sdk_peer.py`).
    case sdk = "PARLANCE_SDK_PEER"

    /// How it is started; empty where it could not be installed.
    var command: [String] {
        ProcessInfo.processInfo.environment[rawValue]?.split(separator: " ").map(String.init) ?? []
    }
}

/// Another Matrix client as a process.
final class MatrixPeer: Sendable {
    /// How matrix-nio is started; empty where it could not be installed.
    static let command = PeerClient.nio.command

    struct Failure: Error {
        let said: String
    }

    let user: MemberID
    private let client: PeerClient
    private let process: PeerProcess
    /// Of its keys, as long as it runs.
    private let folder = TemporaryFolder()

    /// - Parameter options: Further words of its command.
    init(_ user: MemberID, server: URL, client: PeerClient = .nio, options: [String] = []) async throws {
        self.user = user
        self.client = client
        process = try await Self.started(
            client.command + [server.absoluteString, user.rawValue, "password", folder.url.path] + options)
    }

    /// Starts it until it answers: one that ends before it has signed in says nothing of what is tested.
    private static func started(_ command: [String]) async throws -> PeerProcess {
        for _ in 0..<2 {
            let process = try PeerProcess(command)
            do {
                _ = try await process.answer(to: #"["sync"]"#)
                return process
            } catch let ended as PeerProcess.Ended {
                print("MatrixPeer: \(ended)")
            }
        }
        return try PeerProcess(command)
    }

    @discardableResult
    func ask(_ name: String, _ arguments: JSONValue...) async throws -> JSONValue {
        try await ask(name, arguments)
    }

    @discardableResult
    func ask(_ name: String, _ arguments: [JSONValue]) async throws -> JSONValue {
        let question = try JSONValue.array([.string(name)] + arguments).encoded()
        let line = try await process.answer(to: String(decoding: question, as: UTF8.self))
        let answer = try JSONValue(parsing: Data(line.utf8))
        guard let value = answer["answer"] else { throw Failure(said: answer["error"]?.string ?? "?") }
        return value
    }

    /// What an event of a room says to it; `nil` if it has no key for it.
    func read(_ event: MessageID, in room: RoomID) async throws -> JSONValue? {
        let answer = try await ask("read", .string(room.rawValue), .string(event.rawValue))
        return answer == .null ? nil : answer
    }

    /// Sends a text into a room, encrypted.
    @discardableResult
    func say(_ text: String, in room: RoomID) async throws -> MessageID {
        try await send(["msgtype": "m.text", "body": .string(text)], in: room)
    }

    /// Sends a message into a room, encrypted but for its relation.
    @discardableResult
    func send(_ content: JSONValue, in room: RoomID) async throws -> MessageID {
        MessageID(try await ask("send", .string(room.rawValue), content).string ?? "")
    }

    /// Sends a file of which byte N is 31 * N, encrypted.
    @discardableResult
    func sendFile(_ name: String, size: Int, in room: RoomID) async throws -> MessageID {
        let answer = try await ask("send_file", .string(room.rawValue), .string(name), .integer(Int64(size)))
        return MessageID(answer.string ?? "")
    }

    /// The SHA-256 of the file of an event, decrypted.
    func digest(ofFileOf event: MessageID, in room: RoomID) async throws -> String? {
        try await ask("read_file", .string(room.rawValue), .string(event.rawValue)).string
    }

    /// What an edit makes of a message.
    func read(edit: MessageID, of message: MessageID, in room: RoomID) async throws -> String? {
        let content =
            switch client {
            case .nio: try await read(edit, in: room)
            case .sdk: try await ask("edited", .string(room.rawValue), .string(message.rawValue))
            }
        return content?["m.new_content"]?["body"]?.string
    }
}
