import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import ToolSupport

@testable import MatrixBackend

/// Another Matrix client, matrix-nio, as a process (`build-aux/matrix_peer.py`).
final class MatrixPeer: Sendable {
    /// How it is started; empty where it could not be installed.
    static let command =
        ProcessInfo.processInfo.environment["PARLANCE_MATRIX_PEER"]?.split(separator: " ").map(String.init) ?? []

    struct Failure: Error {
        let said: String
    }

    let user: MemberID
    private let process: PeerProcess
    /// Of its keys, as long as it runs.
    private let folder = TemporaryFolder()

    init(_ session: MatrixSession, server: URL) async throws {
        user = session.user
        process = try await Self.started(
            Self.command + [server.absoluteString, session.user.rawValue, "password", folder.url.path])
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
}
