import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import ToolSupport

@testable import MatrixBackend

/// The other Matrix client in a test.
enum PeerClient: String {
    /// matrix-nio, which does not support identities: tests create one for it (`build-aux/matrix_peer.py`).
    case nio = "PARLANCE_MATRIX_PEER"
    /// matrix-rust-sdk with its strictest settings (`build-aux/sdk_peer.py`).
    case sdk = "PARLANCE_SDK_PEER"

    /// The command that starts the client; empty if it is not installed.
    var command: [String] {
        ProcessInfo.processInfo.environment[rawValue]?.split(separator: " ").map(String.init) ?? []
    }
}

/// Another Matrix client in a process of its own.
final class MatrixPeer: Sendable {
    /// The command that starts matrix-nio; empty if it is not installed.
    static let command = PeerClient.nio.command

    struct Failure: Error {
        let said: String
    }

    let user: MemberID
    private let client: PeerClient
    private let process: PeerProcess
    /// Stores the client's keys while it runs.
    private let folder = TemporaryFolder()

    /// - Parameter options: additional arguments of the command.
    init(_ user: MemberID, server: URL, client: PeerClient = .nio, options: [String] = []) async throws {
        self.user = user
        self.client = client
        process = try await Self.started(
            client.command + [server.absoluteString, user.rawValue, "password", folder.url.path] + options)
    }

    /// Starts the client and waits for its first response. If it exits before it has signed in, it is restarted: this
    /// is not what the tests are about.
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

    /// Returns the decrypted content of an event, or `nil` if the client lacks its key.
    func read(_ event: MessageID, in room: RoomID) async throws -> JSONValue? {
        let answer = try await ask("read", .string(room.rawValue), .string(event.rawValue))
        return answer == .null ? nil : answer
    }

    /// Sends an encrypted text.
    @discardableResult
    func say(_ text: String, in room: RoomID) async throws -> MessageID {
        try await send(["msgtype": "m.text", "body": .string(text)], in: room)
    }

    /// Sends a message, encrypted except for its relation.
    @discardableResult
    func send(_ content: JSONValue, in room: RoomID) async throws -> MessageID {
        MessageID(try await ask("send", .string(room.rawValue), content).string ?? "")
    }

    /// Sends an encrypted file whose byte N is 31 * N.
    @discardableResult
    func sendFile(_ name: String, size: Int, in room: RoomID) async throws -> MessageID {
        let answer = try await ask("send_file", .string(room.rawValue), .string(name), .integer(Int64(size)))
        return MessageID(answer.string ?? "")
    }

    /// Returns the SHA-256 of an event's decrypted file.
    func digest(ofFileOf event: MessageID, in room: RoomID) async throws -> String? {
        try await ask("read_file", .string(room.rawValue), .string(event.rawValue)).string
    }

    /// Returns the text of a message after an edit.
    func read(edit: MessageID, of message: MessageID, in room: RoomID) async throws -> String? {
        let content =
            switch client {
            case .nio: try await read(edit, in: room)
            case .sdk: try await ask("edited", .string(room.rawValue), .string(message.rawValue))
            }
        return content?["m.new_content"]?["body"]?.string
    }
}
