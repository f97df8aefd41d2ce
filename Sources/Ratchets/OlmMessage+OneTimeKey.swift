extension OlmMessage {
    /// The one-time or fallback key that a pre-key message claims to use; `nil` if it is another message or malformed.
    public var oneTimeKey: Curve25519Key? {
        // The version, then protocol buffer fields: a tag, the length, the bytes.
        guard kind == .beginning, bytes.first == 3 else { return nil }
        var rest = bytes.dropFirst()
        while let tag = rest.popFirst(), tag & 7 == 2 {
            var (count, shift) = (0, 0)
            while let byte = rest.popFirst() {
                count |= Int(byte & 0x7F) << shift
                shift += 7
                guard byte & 0x80 != 0, shift < 28 else { break }
            }
            guard rest.count >= count else { return nil }
            if tag >> 3 == 1 { return try? Curve25519Key(bytes: Array(rest.prefix(count))) }
            rest = rest.dropFirst(count)
        }
        return nil
    }
}
