import ChatCore
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) final class KeyFileTests {
    private let folder: URL
    private var file: URL { folder.appending(path: "keys.txt") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "KeyFileTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static let begin = "-----BEGIN MEGOLM SESSION DATA-----"
    private static let end = "-----END MEGOLM SESSION DATA-----"

    private static func sessions(_ count: Int) throws -> [ExportedSession] {
        try (0..<count).map { number in
            let out = try OutboundGroupSession()
            let session = try InboundGroupSession(sessionKey: out.sessionKey)
            return try ExportedSession([
                "algorithm": "m.megolm.v1.aes-sha2", "room_id": .string("!größe\(number)\":b"),
                "session_id": .string(try out.id), "sender_key": .string("\(OlmAccount().identityKey)"),
                "session_key": .string(Base64.encoded(try session.exported(at: 0))),
            ])
        }
    }

    private func write(_ sessions: [ExportedSession], passphrase: String = "password") async throws {
        let writer = try KeyFileWriter(file, with: try await KeyFileSeal(passphrase: passphrase, rounds: 1_000))
        for start in stride(from: 0, to: sessions.count, by: 7) {
            try writer.append(Array(sessions[start...].prefix(7)))
        }
        #expect(try writer.finish() == sessions.count)
    }

    private func read(passphrase: String = "password") async throws -> (sessions: [ExportedSession], rejected: Int) {
        let reader = try KeyFileReader(try await OpenedKeyFile(file, passphrase: passphrase))
        var sessions: [ExportedSession] = []
        while let next = try reader.next() { sessions += next }
        #expect(try reader.next() == nil)
        return (sessions, reader.rejected)
    }

    private func failure(_ text: String, passphrase: String = "password") async throws -> KeyFile.Failure? {
        try Data(text.utf8).write(to: file)
        do {
            _ = try await read(passphrase: passphrase)
            return nil
        } catch {
            return error as? KeyFile.Failure
        }
    }

    @Test("A written file is read back, whatever its size.", arguments: [0, 1, 2, 7, 230]) func roundTrip(_ count: Int)
        async throws
    {
        let sessions = try Self.sessions(count)
        try await write(sessions)
        let read = try await read()
        #expect(read.sessions == sessions && read.rejected == 0)
        let text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == Self.begin[...] && lines.dropLast().last == Self.end[...] && lines.last == "")
        #expect(lines.allSatisfy { $0.utf8.count <= 96 })
        let permissions = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["keys.txt"])
    }

    /// The vectors of matrix-js-sdk, which contain text instead of sessions.
    @Test("A file from another client opens with its passphrase.") func knownFiles() async throws {
        let vectors = [
            (
                "betterpassword",
                "AW1vcmVzYWx0bW9yZXNhbHT//////////wAAAAAAAAAAAAAD6KyBpe1Niv5M5NPm4ZATsJo5nghk\nKYu63a0YQ5DRhUWEKk7CcMkrKnAUiZny"
            ),
            (
                "SWORDFISH",
                "AXllc3NhbHR5Z29vZG5lc3P//////////wAAAAAAAAAAAAAD6OIW+Je7gwvjd4kYrb+49gKCfExw\nMgJBMD4mrhLkmgAngwR1pHjbWXaoGybtiAYr0moQ93GrBQsCzPbvl82rZhaXO3iH5uHo/RCEpOqp\nPgg29363BGR+/Ripq/VCLKGNbw=="
            ),
        ]
        for (passphrase, body) in vectors {
            let text = "\(Self.begin)\n\(body)\n\(Self.end)"
            try Data(text.utf8).write(to: file)
            let opened = try await OpenedKeyFile(file, passphrase: passphrase)
            let reader = try KeyFileReader(opened)
            // "Hello, World" is not an array.
            #expect(throws: KeyFile.Failure.damaged) { while try reader.next() != nil {} }
            #expect(try await failure(text, passphrase: "password") == .wrongPassphrase)
        }
        // This file has only 10 rounds.
        let guessable =
            "\(Self.begin)\nAXNhbHRzYWx0c2FsdHNhbHSIiIiIiIiIiIiIiIiIiIiIAAAACmIRUW2OjZ3L2l6j9h0lHlV3M2dx\ncissyYBxjsfsAndErh065A8=\n\(Self.end)"
        #expect(try await failure(guessable) == .rounds)
    }

    @Test("Line endings, whitespace, and text before and after it do not matter.") func layouts() async throws {
        let sessions = try Self.sessions(30)
        try await write(sessions)
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let body = lines.dropFirst().dropLast().joined()
        for text in [
            lines.joined(separator: "\r\n"), "\n\n some text\n\(lines.joined(separator: "\n"))\nmore\n",
            "\(Self.begin)\n\(body)\n\(Self.end)",
            "\(Self.begin) \n\(body.map { "\($0) " }.joined())\n\(Self.end) \t\r\n",
            "\(Self.begin)\n\(body.replacing("=", with: ""))\n\(Self.end)",
        ] {
            try Data(text.utf8).write(to: file)
            #expect(try await read().sessions == sessions)
        }
    }

    @Test("A damaged file is distinguished from a wrong passphrase.") func damaged() async throws {
        try await write(Self.sessions(30))
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(try await failure(text, passphrase: "Password") == .wrongPassphrase)
        for count in [0, 1, 35, 36, 40, 100, 5_000, text.utf8.count - 34, text.utf8.count - 5, text.utf8.count - 2] {
            #expect(try await failure(String(text.prefix(count))) == .damaged, "\(count)")
        }
        // A missing line or a changed character is indistinguishable from a wrong passphrase.
        var lines = text.split(separator: "\n").map(String.init)
        lines.remove(at: 40)
        #expect(try await failure(lines.joined(separator: "\n")) == .wrongPassphrase)
        for bad in ["!", "=", "\u{0}", "ü"] {
            var lines = text.split(separator: "\n").map(String.init)
            lines[20] = String(lines[20].dropLast()) + bad
            #expect(try await failure(lines.joined(separator: "\n")) == .damaged, "\(bad)")
        }
        for (short, expected): (String, KeyFile.Failure) in [
            ("", .damaged), ("AQ", .damaged), (String(repeating: "A", count: 200), .damaged),
            ("AQ" + String(repeating: "A", count: 200), .rounds), ("AQ" + String(repeating: "/", count: 200), .rounds),
        ] {
            #expect(try await failure("\(Self.begin)\n\(short)\n\(Self.end)\n") == expected)
        }
        #expect(try await failure(String(repeating: "x", count: 200_000)) == .damaged)
        #expect(try await failure(String(repeating: "x\n", count: 200_000)) == .damaged)
        for place in [folder.appending(path: "none"), URL(filePath: "/dev/zero"), folder] {
            await #expect(throws: KeyFile.Failure.self) { try await OpenedKeyFile(place, passphrase: "x") }
        }
    }

    /// Writes a key file with any text as its plaintext.
    private func write(_ plaintext: String) async throws {
        let preamble = try KeyFile.Preamble(rounds: 1_000)
        let keys = try KeyFile.Keys(passphrase: "password", preamble)
        let cipher = try CounterCipher(key: keys.encryption, counter: preamble.iv)
        var bytes = preamble.bytes + (try cipher.apply(to: Array(plaintext.utf8)))
        bytes += try KeyDerivation.hmacSHA256(of: bytes, key: keys.authentication)
        try Data("\(Self.begin)\n\(Base64.encoded(bytes))\n\(Self.end)\n".utf8).write(to: file)
    }

    @Test("Anything but an array is damaged, and an entry that is not a session is skipped.")
    func contents() async throws {
        for text in ["", "{}", "5", "[", "[5", "[]]", #"{"rooms":[]}"#, #"{"0":{}}"#, "\u{0}"] {
            try await write(text)
            if text == "{}" {
                #expect(try await read().sessions.isEmpty)
                continue
            }
            await #expect(throws: KeyFile.Failure.damaged, "\(text)") { try await self.read() }
        }
        let session = try Self.sessions(1)[0]
        let json = String(decoding: try CanonicalJSON.bytes(of: session.json), as: UTF8.self)
        try await write(#"[5,"x",[],{},null,\#(json),{"algorithm":"m.other"},[[\#(json)]]]"#)
        let read = try await read()
        #expect(read.sessions == [session] && read.rejected == 7)
    }

    @Test("An unfinished file leaves the existing one in place.") func unfinished() async throws {
        try Data("former".utf8).write(to: file)
        var writer: KeyFileWriter? = try KeyFileWriter(
            file, with: try await KeyFileSeal(passphrase: "x", rounds: 1_000))
        try writer?.append(Self.sessions(20))
        writer = nil
        #expect(try Data(contentsOf: file) == Data("former".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["keys.txt"])
        let target = folder.appending(path: "none/keys.txt")
        let seal = try await KeyFileSeal(passphrase: "x", rounds: 1_000)
        #expect(throws: KeyFile.Failure.file(code: ENOENT)) { try KeyFileWriter(target, with: seal) }
    }
}
