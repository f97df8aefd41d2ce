import Ratchets

/// Bytes in a record, as base64. Earlier versions stored an array of numbers, which is many times slower to read and
/// write.
struct StoredBytes: Codable, Equatable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        // Anything other than a string is the earlier array form, or an error.
        guard let text = try? value.decode(String.self) else {
            bytes = try value.decode([UInt8].self)
            return
        }
        bytes = try Base64.decoded(text)
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(Base64.encoded(bytes))
    }
}
