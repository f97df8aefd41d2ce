import CRatchets

/// The arguments of one call of the encryption library, read from arbitrary input, and where it writes its results.
/// What they point to lies at odd addresses, between bytes that nothing may write, and is freed with them.
final class CallArguments {
    /// Bytes with their length.
    struct Bytes {
        let start: UnsafeMutablePointer<UInt8>?
        let count: Int
    }

    private var input: ArraySlice<UInt8>
    private var buffers: [(memory: UnsafeMutablePointer<UInt8>, count: Int)] = []
    /// Whether an argument is none that the header allows, so that the call has to fail.
    private(set) var isForbidden = false
    /// What the library has done wrong.
    private(set) var violation: String?

    private static let margin = 16
    private static let filler: UInt8 = 0xA5

    init(_ input: ArraySlice<UInt8>) { self.input = input }

    deinit {
        for buffer in buffers { buffer.memory.deallocate() }
    }

    func note(_ violation: String) { self.violation = self.violation ?? violation }

    // MARK: Input

    func byte() -> UInt8 { input.popFirst() ?? 0 }

    func number() -> UInt32 {
        var number: UInt32 = 0
        for _ in 0..<4 { number = number << 8 | UInt32(byte()) }
        return number
    }

    private func next(_ count: Int) -> [UInt8] {
        defer { input = input.dropFirst(count) }
        return Array(input.prefix(count))
    }

    /// As many bytes as the header says.
    func fixed(_ count: Int) -> UnsafeMutablePointer<UInt8> {
        let bytes = next(count)
        return buffer(bytes + [UInt8](repeating: 0, count: count - bytes.count))
    }

    /// These bytes, or arbitrary ones.
    func fixed(_ count: Int, or valid: [UInt8]) -> UnsafeMutablePointer<UInt8> {
        byte() % 2 == 0 && valid.count == count ? buffer(valid) : fixed(count)
    }

    /// Any number of bytes: these, or arbitrary ones, or none, with a pointer or without. Rarely a length without
    /// bytes, or one that no memory has.
    func bytes(or valid: [UInt8] = []) -> Bytes {
        switch byte() % 16 {
        case 0: return Bytes(start: nil, count: 0)
        case 1: return Bytes(start: buffer([]), count: 0)
        case 2:
            isForbidden = true
            return Bytes(start: nil, count: 1 + Int(byte()))
        case 3:
            isForbidden = true
            return Bytes(start: buffer([]), count: Int.min | Int(byte()))
        case 4...6: return whole(valid)
        case 7...8:
            var damaged = valid
            let (place, bits) = (Int(number()), byte())
            if !damaged.isEmpty { damaged[place % damaged.count] ^= bits }
            return whole(damaged)
        case 9: return whole(Array(valid.prefix(Int(number()) % (valid.count + 1))))
        case 10...12: return whole(next(Int(byte())))
        default: return whole(next(input.count))
        }
    }

    private func whole(_ bytes: [UInt8]) -> Bytes { Bytes(start: buffer(bytes), count: bytes.count) }

    // MARK: Results

    /// A place for so many bytes.
    func place(_ count: Int) -> UnsafeMutablePointer<UInt8> { buffer([UInt8](repeating: 0, count: count)) }

    /// A call that allocates bytes. They are read and freed.
    func bytes(by call: (UnsafeMutablePointer<ratchet_bytes>) -> ratchet_status) -> ratchet_status {
        var bytes = ratchet_bytes(data: nil, length: 0)
        let status = call(&bytes)
        guard Int(status) == RATCHET_OK else { return status }
        if bytes.length < 0 || bytes.data == nil && bytes.length > 0 {
            note("a length without bytes")
        } else if [UInt8](UnsafeBufferPointer(start: bytes.data, count: bytes.length)).count != bytes.length {
            note("bytes that cannot be read")
        }
        ratchet_bytes_free(bytes)
        return status
    }

    /// A call that makes an object, which is freed.
    func object(
        _ free: (OpaquePointer?) -> Void, by call: (UnsafeMutablePointer<OpaquePointer?>) -> ratchet_status
    ) -> ratchet_status {
        var object: OpaquePointer?
        let status = call(&object)
        guard Int(status) == RATCHET_OK else { return status }
        if object == nil { note("no object") }
        free(object)
        return status
    }

    // MARK: Memory

    private func buffer(_ bytes: [UInt8]) -> UnsafeMutablePointer<UInt8> {
        let size = 1 + bytes.count + Self.margin
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
        memory.initialize(repeating: Self.filler, count: size)
        for (offset, byte) in bytes.enumerated() { memory[1 + offset] = byte }
        buffers.append((memory, bytes.count))
        return memory + 1
    }

    /// Whether nothing was written before or behind the buffers.
    var areMarginsIntact: Bool {
        buffers.allSatisfy { memory, count in
            memory[0] == Self.filler
                && (0..<Self.margin).allSatisfy { memory[1 + count + $0] == Self.filler }
        }
    }
}
