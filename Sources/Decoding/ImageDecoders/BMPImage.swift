import ConfinedDecoding
import MediaDecoding

/// A Windows bitmap in the variants that are in use, including RLE.
struct BMPImage {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The file header.
    private struct Header {
        enum Coding {
            case plain, runs
        }

        var width = 0
        var height = 0
        var isTopDown = false
        /// Bits per pixel.
        var bits = 0
        var coding = Coding.plain
        /// The channel masks of 16- and 32-bit pixels; that of alpha may be 0.
        var masks: [UInt32] = [0, 0, 0, 0]
        /// The colors of indexed pixels.
        var palette: [UInt32] = []
        /// The offset of the pixel data.
        var pixels = 0

        init(_ bytes: UnsafeRawBufferPointer) throws(ImageFailure) {
            let reader = ByteReader(bytes)
            guard let pixels = reader.little(4, at: 10), let length = reader.little(4, at: 14) else { throw .broken }
            self.pixels = pixels
            let isOld = length == 12
            guard isOld || (40...256).contains(length) else { throw .broken }
            let numbers: [Int?] =
                isOld
                ? [reader.little(2, at: 18), reader.little(2, at: 20), reader.little(2, at: 24), 0, 0]
                : [
                    reader.little(4, at: 18), reader.little(4, at: 22), reader.little(2, at: 28),
                    reader.little(4, at: 30), reader.little(4, at: 46),
                ]
            guard case let values = numbers.compactMap({ $0 }), values.count == 5 else { throw .broken }
            func signed(_ number: Int) -> Int { isOld ? number : Int(Int32(truncatingIfNeeded: number)) }
            width = signed(values[0])
            let lines = signed(values[1])
            (height, isTopDown, bits) = (abs(lines), lines < 0, values[2])
            switch (values[3], bits) {
            case (0, 1), (0, 2), (0, 4), (0, 8), (0, 24): break
            case (0, 16): masks = [0x7C00, 0x03E0, 0x001F, 0]
            case (0, 32): masks = [0xFF_0000, 0xFF00, 0xFF, 0]
            case (1, 8), (2, 4): coding = .runs
            case (3, 16), (3, 32), (6, 16), (6, 32):
                let count = values[3] == 6 || length >= 56 ? 4 : 3
                for index in 0..<count {
                    guard let mask = reader.little(4, at: 54 + index * 4) else { throw .broken }
                    masks[index] = UInt32(mask)
                }
            default: throw .broken
            }
            if bits <= 8 {
                let (maxColors, entry) = (1 << bits, isOld ? 3 : 4)
                let count = values[4] == 0 ? maxColors : min(values[4], maxColors)
                for index in 0..<count {
                    guard let color = reader.little(3, at: 14 + length + index * entry) else { throw .broken }
                    palette.append(
                        UInt32(color >> 16 & 0xFF | color & 0xFF00 | (color & 0xFF) << 16) | 0xFF00_0000)
                }
                // Indices without a palette entry are black.
                palette += Array(repeating: 0xFF00_0000, count: maxColors - count)
            }
        }

        /// Bytes per line.
        var stride: Int { (width * bits + 31) / 32 * 4 }
    }

    func decode(_ request: DecodingRequest, to sink: any ImageSink) throws(ImageFailure) {
        let header = try Header(bytes)
        let (width, height) = (header.width, header.height)
        try request.check(width: width, height: height)
        try sink.reportInfo(width: width, height: height, isAnimated: false)
        guard request.mode != .size else { return }
        try sink.startFrame()
        let still = try Still(
            (width, height), displaySize: request.displaySize(width: width, height: height),
            hasAlpha: header.masks[3] != 0)
        let line = try PixelMemory(width)
        switch header.coding {
        case .plain:
            guard header.pixels <= bytes.count, header.stride * height <= bytes.count - header.pixels else {
                throw .broken
            }
            let expand = LineDecoder(header)
            for row in 0..<height {
                let offset = header.pixels + (header.isTopDown ? row : height - 1 - row) * header.stride
                expand.read(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + header.stride]), into: line, width)
                still.append(line.bytes)
            }
        case .runs:
            var runs = BMPRuns(bytes, from: header.pixels, bits: header.bits)
            let numbers = try runs.unpacked(width, height)
            for row in 0..<height {
                let from = numbers.bytes + (header.isTopDown ? row : height - 1 - row) * width
                for column in 0..<width { line.whole[column] = header.palette[Int(from[column])] }
                still.append(line.bytes)
            }
        }
        try still.finish(sink)
    }

    /// Converts a line's pixels to RGBA.
    private struct LineDecoder {
        private struct Field {
            var shift: UInt32
            /// The maximum value, 0 for an absent channel.
            var maxValue: UInt32

            init(_ mask: UInt32) {
                shift = mask == 0 ? 0 : UInt32(mask.trailingZeroBitCount)
                maxValue = mask >> shift
            }

            func value(_ pixel: UInt32, none: UInt32) -> UInt32 {
                guard maxValue > 0 else { return none }
                return UInt32(UInt64(pixel >> shift & maxValue) * 255 / UInt64(maxValue))
            }
        }

        private let bits: Int
        private let palette: [UInt32]
        private let fields: [Field]

        init(_ header: Header) {
            bits = header.bits
            palette = header.palette
            fields = header.masks.map { Field($0) }
        }

        func read(_ bytes: UnsafeRawBufferPointer, into line: PixelMemory, _ width: Int) {
            let target = line.whole
            switch bits {
            case 24:
                for column in 0..<width {
                    let (blue, green, red) = (bytes[column * 3], bytes[column * 3 + 1], bytes[column * 3 + 2])
                    target[column] = UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000
                }
            case 16, 32:
                let (red, green, blue, alpha) = (fields[0], fields[1], fields[2], fields[3])
                for column in 0..<width {
                    let pixel =
                        bits == 16
                        ? UInt32(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: column * 2, as: UInt16.self)))
                        : UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: column * 4, as: UInt32.self))
                    target[column] =
                        red.value(pixel, none: 0) | green.value(pixel, none: 0) << 8
                        | blue.value(pixel, none: 0) << 16 | alpha.value(pixel, none: 255) << 24
                }
            default:
                // The first pixel is in the high bits.
                let mask = (1 << bits) - 1
                for column in 0..<width {
                    let bit = column * bits
                    target[column] = palette[Int(bytes[bit / 8]) >> (8 - bits - bit % 8) & mask]
                }
            }
        }
    }
}
