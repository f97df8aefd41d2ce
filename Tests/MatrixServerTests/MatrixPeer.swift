import ChatCore
import ChatTestSupport
import Foundation
import JSONReading

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
    private nonisolated(unsafe) let process = Process()
    private let (questions, answers) = (Pipe(), Pipe())
    // One question at a time, from one test.
    private nonisolated(unsafe) var unread: [UInt8] = []

    /// Of its keys, as long as it runs.
    private let folder = TemporaryFolder()

    init(_ session: MatrixSession, server: URL) throws {
        user = session.user
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            Self.command + [server.absoluteString, session.user.rawValue, "password", folder.url.path]
        process.standardInput = questions
        process.standardOutput = answers
        try process.run()
    }

    deinit {
        try? questions.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    @discardableResult
    func ask(_ name: String, _ arguments: JSONValue...) throws -> JSONValue {
        let question = try JSONValue.array([.string(name)] + arguments).encoded() + [0x0A]
        try questions.fileHandleForWriting.write(contentsOf: question)
        while !unread.contains(0x0A) {
            let data = answers.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Failure(said: "it has ended") }
            unread += data
        }
        let end = unread.firstIndex(of: 0x0A) ?? unread.endIndex
        let line = Data(unread[..<end])
        unread.removeFirst(end + 1)
        let answer = try JSONValue(parsing: line)
        guard let value = answer["answer"] else { throw Failure(said: answer["error"]?.string ?? "?") }
        return value
    }

    /// Sends a text into a room, encrypted.
    @discardableResult
    func say(_ text: String, in room: RoomID) throws -> MessageID {
        try send(["msgtype": "m.text", "body": .string(text)], in: room)
    }

    /// Sends a message into a room, encrypted but for its relation.
    @discardableResult
    func send(_ content: JSONValue, in room: RoomID) throws -> MessageID {
        MessageID(try ask("send", .string(room.rawValue), content).string ?? "")
    }
}
