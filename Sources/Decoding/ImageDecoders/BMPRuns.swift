import MediaDecoding

/// Run-length encoded bitmap pixels, RLE4 or RLE8.
struct BMPRuns {
    private let reader: ByteReader
    private var offset: Int
    private let bits: Int

    init(_ bytes: UnsafeRawBufferPointer, from offset: Int, bits: Int) {
        reader = ByteReader(bytes)
        self.offset = offset
        self.bits = bits
    }

    private mutating func next() throws(ImageFailure) -> Int {
        guard let byte = reader.little(1, at: offset) else { throw .broken }
        offset += 1
        return byte
    }

    /// - Returns: One byte with the palette index per pixel, in the file's order of lines; 0 for skipped pixels.
    mutating func unpacked(_ width: Int, _ height: Int) throws(ImageFailure) -> PixelMemory {
        let memory = try PixelMemory((width * height + 3) / 4)
        var (x, y) = (0, 0)
        func put(_ number: Int) {
            if x < width, y < height { memory.bytes[y * width + x] = UInt8(truncatingIfNeeded: number) }
            x += 1
        }
        while y < height {
            let (count, value) = (try next(), try next())
            if count > 0 {
                for index in 0..<count { put(bits == 8 ? value : index % 2 == 0 ? value >> 4 : value & 15) }
                continue
            }
            switch value {
            case 0: (x, y) = (0, y + 1)
            case 1: return memory
            case 2:
                x += try next()
                y += try next()
            default:
                var byte = 0
                for index in 0..<value {
                    if bits == 8 || index % 2 == 0 { byte = try next() }
                    put(bits == 8 ? byte : index % 2 == 0 ? byte >> 4 : byte & 15)
                }
                // Absolute runs are padded to 16 bits.
                let length = bits == 8 ? value : (value + 1) / 2
                if length % 2 == 1 { _ = try next() }
            }
        }
        return memory
    }
}
