import PictureDecoding

/// How a picture is to be turned to be upright, as Exif numbers it, 1 to 8.
struct Orientation {
    private let number: Int

    static let upright = Orientation(number: 1)

    /// - Parameter number: anything else than 1 to 8 is upright.
    init(number: Int) {
        self.number = (1...8).contains(number) ? number : 1
    }

    /// What Exif data tells of the first picture: a TIFF file with a number in it.
    init(exif: UnsafeRawBufferPointer) {
        self.init(number: Self.number(in: exif) ?? 1)
    }

    private static func number(in exif: UnsafeRawBufferPointer) -> Int? {
        var bytes = ByteReader(exif)
        // Some write the marker of JPEG's segment before it.
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

    /// Whether width and height change places.
    var isOnItsSide: Bool { number >= 5 }

    func size(_ width: Int, _ height: Int) -> (width: Int, height: Int) {
        isOnItsSide ? (height, width) : (width, height)
    }

    /// The pixels as they are meant to be seen.
    func applied(to pixels: PixelMemory, width: Int, height: Int) throws(ImageFailure) -> PixelMemory {
        guard number != 1 else { return pixels }
        let turned = try PixelMemory(pixels.count)
        let (from, into) = (pixels.whole, turned.whole)
        // Where the first pixel goes, and how far from each to the next and from line to line.
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
