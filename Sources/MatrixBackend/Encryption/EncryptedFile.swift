import ChatCore
import Foundation
import JSONReading

/// An encrypted attachment's location and decryption key (specification, "Sending encrypted attachments").
///
/// ``uri`` encodes all of it, as the store has a single column for a file. It is not an address that anybody could
/// request.
struct EncryptedFile: Equatable, Sendable {
    /// `mxc://…`
    let address: String
    let key: [UInt8]
    /// The initial counter block.
    let counter: [UInt8]
    /// The SHA-256 of the ciphertext.
    let digest: [UInt8]

    private static let sizes = (key: 32, counter: 16, digest: 32)

    /// - Parameter json: The `EncryptedFile` object of an event.
    init?(_ json: JSONValue?) {
        guard let json, json["v"]?.string == "v2", let address = MatrixEvent.contentURI(json["url"]),
            let jwk = json["key"], jwk["kty"]?.string == "oct", jwk["alg"]?.string == "A256CTR",
            let key = Self.bytes(jwk["k"], Self.sizes.key), let counter = Self.bytes(json["iv"], Self.sizes.counter),
            let digest = Self.bytes(json["hashes"]?["sha256"], Self.sizes.digest)
        else { return nil }
        self.address = address
        self.key = key
        self.counter = counter
        self.digest = digest
    }

    /// - Parameter uri: The value of ``uri``.
    init?(uri: String) {
        guard uri.hasPrefix(MediaReference.encryptedScheme) else { return nil }
        let parts = uri.dropFirst(MediaReference.encryptedScheme.count).split(separator: ",", maxSplits: 1)
        guard parts.count == 2, parts[1].hasPrefix("mxc://"), let bytes = Data(base64Encoded: String(parts[0])),
            bytes.count == Self.sizes.key + Self.sizes.counter + Self.sizes.digest
        else { return nil }
        address = String(parts[1])
        key = Array(bytes.prefix(Self.sizes.key))
        counter = Array(bytes.dropFirst(Self.sizes.key).prefix(Self.sizes.counter))
        digest = Array(bytes.suffix(Self.sizes.digest))
    }

    var uri: String {
        let parameters = Data(key + counter + digest).base64EncodedString()
        return MediaReference.encryptedScheme + parameters + "," + address
    }

    /// Decodes base64 in either alphabet, padded or not: JWK uses the URL-safe one, hashes the other.
    private static func bytes(_ value: JSONValue?, _ count: Int) -> [UInt8]? {
        guard let text = value?.string, text.utf8.count <= 64 else { return nil }
        var plain = text.replacing("-", with: "+").replacing("_", with: "/")
        while plain.utf8.count % 4 != 0 { plain += "=" }
        guard let data = Data(base64Encoded: plain), data.count == count else { return nil }
        return Array(data)
    }
}
