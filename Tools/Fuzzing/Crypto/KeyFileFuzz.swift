import ChatCore
import CryptoTestSupport
import Foundation
import Glibc
import JSONReading
import MatrixCrypto
import Ratchets

/// Key files: the armor around the ciphertext, and the array of sessions in it.
struct KeyFileFuzz: CryptoFuzz {
    private static let header = "-----BEGIN MEGOLM SESSION DATA-----\n"
    private static let trailer = "\n-----END MEGOLM SESSION DATA-----\n"

    private let file: ScratchFile
    private let encryption: KeyMaterial
    private let authentication: [UInt8]
    private let preamble: [UInt8]
    private let sessions: JSONValue
    private var text: [UInt8] = []
    private let damage: JSONDamage

    init() async throws {
        file = try ScratchFile()
        encryption = try KeyMaterial()
        authentication = try Randomness.bytes(32)
        preamble = try [1] + Randomness.bytes(32) + [0, 7, 161, 32]
        let device = try TestDevice("@a:b", "ONE")
        let all = try (0..<2).map { _ in try BackupFuzz.session(of: device) }
        sessions = .array(all.map(\.json))
        damage = JSONDamage(all.map(\.id) + ["!r:b", "session_key", "sender_key", "\(device.account.identityKey)"])
        text = try sealed(CanonicalJSON.bytes(of: sessions))
    }

    /// A key file with this plaintext.
    private func sealed(_ plaintext: [UInt8]) throws -> [UInt8] {
        let cipher = try CounterCipher(key: encryption, counter: Array(preamble[17..<33]))
        let bytes = preamble + (try cipher.apply(to: plaintext))
        let code = try MessageAuthentication(key: authentication)
        try code.update(bytes)
        let base64 = Base64.encoded(bytes + (try code.finish()))
        return Array((Self.header + base64 + Self.trailer).utf8)
    }

    mutating func violation(of input: inout FuzzInput) async throws -> String? {
        if input.flag() { return try fileViolation(&input) }
        let list = damage.applied(to: sessions, by: &input)
        // A value without a canonical form is encrypted as text that is not JSON.
        let plaintext = (try? CanonicalJSON.bytes(of: list)) ?? Array("no JSON".utf8)
        let read = try read(sealed(plaintext))
        guard let all = (try? JSONValue(parsing: Data(plaintext)))?.array else {
            // An empty container may be an array or an object: the stream shows its kind only by its members.
            return read?.sessions.isEmpty ?? true ? nil : "sessions are read from what is no list"
        }
        guard let read else { return "a list is refused" }
        let expected = all.compactMap { try? ExportedSession($0) }
        return read.sessions == expected && read.rejected == all.count - expected.count
            ? nil : "\(read.sessions.count) of \(expected.count) sessions are read"
    }

    private func fileViolation(_ input: inout FuzzInput) throws -> String? {
        var text = text
        if input.flag() {
            text = Array(Self.header.utf8) + input.takeRest()
        } else {
            while !input.isEmpty, !text.isEmpty {
                let index = input.number(below: text.count)
                switch input.number(below: 4) {
                case 0: text[index] = input.byte()
                case 1: text.insert(contentsOf: input.bytes(input.number(below: 64)), at: index)
                case 2: text.removeSubrange(index...min(index + input.number(below: 64), text.count - 1))
                default: text = Array(text.prefix(index + 1))
                }
            }
        }
        // If only whitespace has changed, the file may still be read.
        guard let read = try read(text) else { return text == self.text ? "a file is refused" : nil }
        let expected = try (sessions.array ?? []).map { try ExportedSession($0) }
        return read.sessions == expected ? nil : "a damaged file says something else"
    }

    /// - Returns: `nil` if the file is rejected.
    private func read(_ text: [UInt8]) throws -> (sessions: [ExportedSession], rejected: Int)? {
        try file.replace(with: text)
        do throws(KeyFile.Failure) {
            let reader = try KeyFileReader(
                OpenedKeyFile(file.url, encryption: encryption, authentication: authentication))
            var sessions: [ExportedSession] = []
            while let next = try reader.next() { sessions += next }
            return (sessions, reader.rejected)
        } catch {
            switch error {
            case .file, .library: throw error
            case .damaged, .rounds, .tooLarge, .wrongPassphrase: return nil
            }
        }
    }
}

/// A file in memory.
private final class ScratchFile {
    private let descriptor: Int32

    init() throws(KeyFile.Failure) {
        let name = "/fuzzed-keys-\(UUID().uuidString)"
        descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else { throw .file(code: errno) }
        shm_unlink(name)
    }

    deinit { close(descriptor) }

    /// Each opening reads from the start of the file.
    var url: URL { URL(fileURLWithPath: "/proc/self/fd/\(descriptor)") }

    func replace(with bytes: [UInt8]) throws(KeyFile.Failure) {
        guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw .file(code: errno)
        }
    }
}
