import ChatCore
import Dispatch
import Foundation
import JSONReading
import Ratchets

/// Encrypts a file in chunks, in constant memory, with a key that is used for nothing else.
extension EncryptedFile {
    /// The `EncryptedFile` fields other than the URL.
    struct Parameters: Sendable {
        let key: [UInt8]
        let counter: [UInt8]
        let digest: [UInt8]
    }

    /// - Parameter target: Created, or truncated if it exists.
    static func encrypt(_ source: URL, to target: URL) async throws -> Parameters {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Parameters, any Error>) in
            // Disk access blocks, which threads of Swift's pool must not do.
            DispatchQueue.global(qos: .userInitiated).async {
                continuation.resume(with: Result { try encryptNow(source, to: target) })
            }
        }
    }

    private static func encryptNow(_ source: URL, to target: URL) throws -> Parameters {
        let input = try OpenFile(reading: source)
        let output = try OpenFile(making: target)
        let key = try Randomness.bytes(32)
        let zeros = [UInt8](repeating: 0, count: 8)
        let counter = try Randomness.bytes(8) + zeros
        let cipher = try CounterCipher(key: KeyMaterial(bytes: key), counter: counter)
        let hash = try SHA256()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try input.read(into: buffer)
            guard count > 0 else { break }
            let chunk = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            try cipher.apply(to: chunk)
            try hash.update(UnsafeRawBufferPointer(chunk))
            try output.write(UnsafeRawBufferPointer(chunk))
        }
        return Parameters(key: key, counter: counter, digest: try hash.finish())
    }

    init(at address: String, _ parameters: Parameters) {
        self.address = address
        key = parameters.key
        counter = parameters.counter
        digest = parameters.digest
    }

    /// The `EncryptedFile` object of an event.
    var json: JSONValue {
        let jwk: JSONValue = [
            "kty": "oct", "alg": "A256CTR", "key_ops": ["encrypt", "decrypt"], "ext": true,
            "k": .string(Self.webText(key)),
        ]
        return [
            "v": "v2", "url": .string(address), "key": jwk, "iv": .string(Base64.encoded(counter)),
            "hashes": ["sha256": .string(Base64.encoded(digest))],
        ]
    }

    /// Encodes in the URL-safe alphabet that JWK requires.
    private static func webText(_ bytes: [UInt8]) -> String {
        let text = Base64.encoded(bytes)
        return text.replacing("+", with: "-").replacing("/", with: "_")
    }
}
