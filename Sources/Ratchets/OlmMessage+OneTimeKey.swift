extension OlmMessage {
    /// The one-time or fallback key that a message begins its session with, as far as it says so; `nil` if it begins
    /// none or cannot be read.
    public var oneTimeKey: Curve25519Key? {
        // The version, then fields of protocol buffers: a tag, the length, the bytes.
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
