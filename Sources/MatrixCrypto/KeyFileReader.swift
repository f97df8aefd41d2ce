public import Foundation
import Glibc
import JSONReading
package import Ratchets

/// A key file whose MAC has been verified with the passphrase.
public struct OpenedKeyFile: Sendable {
    fileprivate let url: URL
    fileprivate let keys: KeyFile.Keys

    /// Derives the keys outside Swift's thread pool, which takes seconds.
    public init(_ url: URL, passphrase: String) async throws(KeyFile.Failure) {
        self = try await KeyFile.run { () throws(KeyFile.Failure) in
            try OpenedKeyFile(checking: url, passphrase: passphrase)
        }
    }

    private init(checking url: URL, passphrase: String) throws(KeyFile.Failure) {
        try self.init(url) { preamble throws(RatchetError) in try KeyFile.Keys(passphrase: passphrase, preamble) }
    }

    /// Takes the derived keys, for fuzzing, where a key derivation per file is too slow.
    package init(_ url: URL, encryption: KeyMaterial, authentication: [UInt8]) throws(KeyFile.Failure) {
        try self.init(url) { _ in KeyFile.Keys(encryption: encryption, authentication: authentication) }
    }

    private init(
        _ url: URL, keys makeKeys: (KeyFile.Preamble) throws(RatchetError) -> KeyFile.Keys
    ) throws(KeyFile.Failure) {
        let source = try KeyFileSource(url)
        // Detects a truncated file before blaming the passphrase.
        while try source.next() != nil {}
        let keys = try KeyFile.using { () throws(RatchetError) in try makeKeys(source.preamble) }
        let again = try KeyFileSource(url)
        let authentication = try again.authentication(with: keys)
        while let bytes = try again.next() {
            try KeyFile.using { () throws(RatchetError) in try authentication.update(bytes) }
        }
        guard try again.isAuthentic(authentication) else { throw .wrongPassphrase }
        self.url = url
        self.keys = keys
    }
}

/// Reads the sessions of a key file one after another, in constant memory.
public final class KeyFileReader {
    private let source: KeyFileSource
    private let cipher: CounterCipher
    private let authentication: MessageAuthentication
    private let list = SessionList()
    private let stream: JSONStream
    private var hasEnded = false

    public init(_ file: OpenedKeyFile) throws(KeyFile.Failure) {
        let source = try KeyFileSource(file.url)
        self.source = source
        cipher = try KeyFile.using { () throws(RatchetError) in
            try CounterCipher(key: file.keys.encryption, counter: source.preamble.iv)
        }
        authentication = try source.authentication(with: file.keys)
        stream = JSONStream(receiver: list)
    }

    /// The number of entries that are not valid sessions.
    public var rejected: Int { list.rejected }

    /// - Returns: The next sessions, possibly none; `nil` at the end of the file.
    public func next() throws(KeyFile.Failure) -> [ExportedSession]? {
        guard !hasEnded else { return nil }
        if let bytes = try source.next() {
            let plaintext = try KeyFile.using { () throws(RatchetError) in
                try authentication.update(bytes)
                return try cipher.apply(to: bytes)
            }
            try read { () throws(JSONError) in try stream.feed(Data(plaintext)) }
        } else {
            hasEnded = true
            // The file may have changed since it was authenticated.
            guard try source.isAuthentic(authentication) else { throw .damaged }
            try read { () throws(JSONError) in try stream.finish() }
        }
        guard list.isList else { throw .damaged }
        return list.takeSessions()
    }

    private func read(_ body: () throws(JSONError) -> Void) throws(KeyFile.Failure) {
        do { try body() } catch { throw .damaged }
    }
}

/// Collects the sessions of a JSON array.
private final class SessionList: JSONReceiver {
    private var sessions: [ExportedSession] = []
    private(set) var rejected = 0
    private(set) var isList = true

    func takeSessions() -> [ExportedSession] {
        defer { sessions = [] }
        return sessions
    }

    func entersContainer(at path: [JSONStep]) -> Bool { path.isEmpty }

    func receive(_ value: JSONValue, at path: [JSONStep]) {
        guard case .index? = path.first else { return isList = false }
        guard let session = try? ExportedSession(value) else { return rejected += 1 }
        sessions.append(session)
    }

    func leaveContainer(at path: [JSONStep]) {}
}

/// Reads the ciphertext of a key file.
private final class KeyFileSource {
    private static let chunkSize = 64 << 10

    let preamble: KeyFile.Preamble
    private let descriptor: Int32
    private var decoder = ArmorDecoder()
    /// Decoded bytes not returned yet; the last ones may be the MAC.
    private var decoded: [UInt8] = []
    private var hasEnded = false
    private var mac: [UInt8] = []

    init(_ url: URL) throws(KeyFile.Failure) {
        let descriptor = Glibc.open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .file(code: errno) }
        do throws(KeyFile.Failure) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .file(code: errno) }
            guard status.st_mode & S_IFMT == S_IFREG else { throw .damaged }
            guard status.st_size <= KeyFile.maxBytes else { throw .tooLarge }
            var (decoder, decoded, hasEnded): (ArmorDecoder, [UInt8], Bool) = (ArmorDecoder(), [], false)
            while decoded.count < KeyFile.Preamble.size, !hasEnded {
                hasEnded = try !Self.read(descriptor, &decoder, &decoded)
            }
            preamble = try KeyFile.Preamble(Array(decoded.prefix(KeyFile.Preamble.size)))
            decoded.removeFirst(KeyFile.Preamble.size)
            (self.decoder, self.decoded, self.hasEnded) = (decoder, decoded, hasEnded)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { Glibc.close(descriptor) }

    /// - Returns: The next part of the ciphertext; `nil` at the end.
    func next() throws(KeyFile.Failure) -> [UInt8]? {
        while !hasEnded, decoded.count <= KeyFile.macSize {
            hasEnded = try !Self.read(descriptor, &decoder, &decoded)
        }
        guard decoded.count >= KeyFile.macSize else { throw .damaged }
        let count = decoded.count - KeyFile.macSize
        guard count > 0 else {
            mac = decoded
            return nil
        }
        defer { decoded.removeFirst(count) }
        return Array(decoded.prefix(count))
    }

    func authentication(with keys: KeyFile.Keys) throws(KeyFile.Failure) -> MessageAuthentication {
        try KeyFile.using { () throws(RatchetError) in
            let authentication = try MessageAuthentication(key: keys.authentication)
            try authentication.update(preamble.bytes)
            return authentication
        }
    }

    /// Whether the file's MAC is valid; to be called at the end of the file.
    func isAuthentic(_ authentication: MessageAuthentication) throws(KeyFile.Failure) -> Bool {
        let expected = try KeyFile.using { () throws(RatchetError) in try authentication.finish() }
        return ConstantTime.equal(expected, mac)
    }

    /// - Returns: `false` at the end of the file.
    private static func read(
        _ descriptor: Int32, _ decoder: inout ArmorDecoder, _ decoded: inout [UInt8]
    ) throws(KeyFile.Failure) -> Bool {
        var buffer = [UInt8](repeating: 0, count: chunkSize)
        var count = Glibc.read(descriptor, &buffer, buffer.count)
        while count < 0, errno == EINTR { count = Glibc.read(descriptor, &buffer, buffer.count) }
        guard count >= 0 else { throw .file(code: errno) }
        decoded += count == 0 ? try decoder.finish() : try decoder.feed(buffer.prefix(count))
        return count > 0
    }
}
