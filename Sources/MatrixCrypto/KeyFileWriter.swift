public import Foundation
import Glibc
import Ratchets

/// The keys that encrypt a key file.
public struct KeyFileSeal: Sendable {
    fileprivate let preamble: KeyFile.Preamble
    fileprivate let keys: KeyFile.Keys

    /// Derives the keys outside Swift's thread pool, which takes half a second.
    public init(passphrase: String) async throws(KeyFile.Failure) {
        try await self.init(passphrase: passphrase, rounds: KeyFile.writtenRounds)
    }

    init(passphrase: String, rounds: UInt32) async throws(KeyFile.Failure) {
        self = try await KeyFile.run { () throws(KeyFile.Failure) in
            try KeyFile.using { () throws(RatchetError) in
                let preamble = try KeyFile.Preamble(rounds: rounds)
                return KeyFileSeal(preamble, try KeyFile.Keys(passphrase: passphrase, preamble))
            }
        }
    }

    private init(_ preamble: KeyFile.Preamble, _ keys: KeyFile.Keys) {
        self.preamble = preamble
        self.keys = keys
    }
}

/// Writes sessions to a key file, in constant memory. An existing file is replaced only once everything is written.
public final class KeyFileWriter {
    /// Bytes per line; a multiple of three, so that only the last line is padded.
    private static let lineSize = 72

    private let url: URL
    private let draft: URL
    private let descriptor: Int32
    private let cipher: CounterCipher
    private let authentication: MessageAuthentication
    /// Encrypted bytes that do not fill a line yet.
    private var waiting: [UInt8] = []
    private var count = 0
    private var isFinished = false

    public init(_ url: URL, with seal: KeyFileSeal) throws(KeyFile.Failure) {
        self.url = url
        draft = url.deletingLastPathComponent().appending(path: ".\(UUID().uuidString).part")
        cipher = try KeyFile.using { () throws(RatchetError) in
            try CounterCipher(key: seal.keys.encryption, counter: seal.preamble.iv)
        }
        authentication = try KeyFile.using { () throws(RatchetError) in
            try MessageAuthentication(key: seal.keys.authentication)
        }
        descriptor = Glibc.open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(code: errno) }
        try write(KeyFile.header + [UInt8(ascii: "\n")])
        try KeyFile.using { () throws(RatchetError) in try authentication.update(seal.preamble.bytes) }
        waiting = seal.preamble.bytes
        try encrypt([UInt8(ascii: "[")])
    }

    deinit {
        Glibc.close(descriptor)
        if !isFinished { unlink(draft.path) }
    }

    public func append(_ sessions: [ExportedSession]) throws(KeyFile.Failure) {
        for session in sessions {
            guard let json = try? CanonicalJSON.bytes(of: session.json) else { throw .damaged }
            try encrypt((count > 0 ? [UInt8(ascii: ",")] : []) + json)
            count += 1
        }
    }

    /// Syncs the file to the disk and moves it into place.
    /// - Returns: The number of sessions in it.
    public func finish() throws(KeyFile.Failure) -> Int {
        try encrypt([UInt8(ascii: "]")])
        waiting += try KeyFile.using { () throws(RatchetError) in try authentication.finish() }
        try writeLines()
        if !waiting.isEmpty { try write(Self.line(waiting[...])) }
        try write(KeyFile.trailer + [UInt8(ascii: "\n")])
        guard fsync(descriptor) == 0, rename(draft.path, url.path) == 0 else { throw .file(code: errno) }
        isFinished = true
        return count
    }

    private func encrypt(_ plaintext: [UInt8]) throws(KeyFile.Failure) {
        waiting += try KeyFile.using { () throws(RatchetError) in
            let ciphertext = try cipher.apply(to: plaintext)
            try authentication.update(ciphertext)
            return ciphertext
        }
        try writeLines()
    }

    private func writeLines() throws(KeyFile.Failure) {
        let size = waiting.count / Self.lineSize * Self.lineSize
        guard size > 0 else { return }
        var lines: [UInt8] = []
        for start in stride(from: 0, to: size, by: Self.lineSize) {
            lines += Self.line(waiting[start..<start + Self.lineSize])
        }
        waiting.removeFirst(size)
        try write(lines)
    }

    private static func line(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let text = Array(Base64.encoded(Array(bytes)).utf8)
        // Some readers require the padding.
        return text + [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4) + [UInt8(ascii: "\n")]
    }

    private func write(_ bytes: [UInt8]) throws(KeyFile.Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw .file(code: errno) }
            rest = rest.dropFirst(written)
        }
    }
}
