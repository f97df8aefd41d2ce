import MediaDecoding

/// An Exif orientation, 1 to 8.
struct Orientation {
    private let number: Int

    static let upright = Orientation(number: 1)

    /// - Parameter number: Values other than 1 to 8 mean upright.
    init(number: Int) {
        self.number = (1...8).contains(number) ? number : 1
    }

    /// Reads the orientation tag from Exif data, which have the structure of a TIFF file.
    init(exif: UnsafeRawBufferPointer) {
        self.init(number: Self.number(in: exif) ?? 1)
    }

    private static func number(in exif: UnsafeRawBufferPointer) -> Int? {
        var bytes = ByteReader(exif)
        // Some files include the header of the JPEG segment.
        if exif.starts(with: Array("Exif\0\0".utf8)) {
            bytes = ByteReader(UnsafeRawBufferPointer(rebasing: exif[6...]))
        }
        guard let byteOrder = bytes.little(2, at: 0), byteOrder == 0x4949 || byteOrder == 0x4D4D else { return nil }
        func number(_ count: Int, at offset: Int) -> Int? {
            byteOrder == 0x4949 ? bytes.little(count, at: offset) : bytes.big(count, at: offset)
        }
        guard number(2, at: 2) == 42, let start = number(4, at: 4), let count = number(2, at: start) else { return nil }
        for entry in 0..<count {
            let offset = start + 2 + entry * 12
            guard let tag = number(2, at: offset) else { return nil }
            if tag == 0x0112 { return number(2, at: offset + 2) == 3 ? number(2, at: offset + 8) : nil }
        }
        return nil
    }

    /// Whether width and height are swapped.
    var isOnItsSide: Bool { number >= 5 }

    func size(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
        isOnItsSide ? (height, width) : (width, height)
    }

    /// Returns the pixels with the orientation applied.
    func applied(to pixels: PixelMemory, width: Int, height: Int) throws(ImageFailure) -> PixelMemory {
        guard number != 1 else { return pixels }
        let turned = try PixelMemory(pixels.count)
        let (from, into) = (pixels.whole, turned.whole)
        // The target of the first pixel, and the steps to the next pixel and the next line.
        let (start, next, line): (Int, Int, Int) =
            switch number {
            case 2: (width - 1, -1, width)
            case 3: (width * height - 1, -1, -width)
            case 4: (width * (height - 1), 1, -width)
            case 5: (0, height, 1)
            case 6: (height - 1, height, -1)
            case 7: (width * height - 1, -height, -1)
            default: ((width - 1) * height, -height, 1)
            }
        for y in 0..<height {
            for x in 0..<width { into[start + x * next + y * line] = from[y * width + x] }
        }
        return turned
    }
}
