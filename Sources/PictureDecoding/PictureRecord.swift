/// What the process that decodes pictures tells, one after the other, over its standard output.
///
/// A record is twenty bytes, five little-endian numbers: a mark, the kind, and three that depend on it. The pixels of
/// a frame follow it, four bytes each (red, green, blue, alpha), line by line without gaps.
public enum PictureRecord: Equatable, Sendable {
    /// The size as the picture is meant to be seen, in pixels, before anything else.
    case info(width: Int, height: Int, isAnimated: Bool)
    /// - delay: milliseconds until the next one.
    case frame(width: Int, height: Int, delay: Int)
    /// There is no more.
    case end
    case failure(PictureFailure)

    /// Bytes of a record.
    public static let length = 20
    private static let mark: UInt32 = 0x3144_4C50

    public var bytes: [UInt8] {
        switch self {
        case .info(let width, let height, let isAnimated): Self.bytes(1, width, height, isAnimated ? 1 : 0)
        case .frame(let width, let height, let delay): Self.bytes(2, width, height, delay)
        case .end: Self.bytes(3, 0, 0, 0)
        case .failure(let failure): Self.bytes(4, Int(failure.rawValue), 0, 0)
        }
    }

    private static func bytes(_ numbers: Int...) -> [UInt8] {
        ([Int(mark)] + numbers).flatMap { number -> [UInt8] in
            let number = UInt32(truncatingIfNeeded: number)
            return [0, 8, 16, 24].map { (shift: UInt32) -> UInt8 in UInt8(truncatingIfNeeded: number >> shift) }
        }
    }

    /// - Returns: nil for anything that no decoder would tell: it is not to be believed, whoever wrote it.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.length else { return nil }
        var numbers = [UInt32](repeating: 0, count: 5)
        for (place, byte) in bytes.enumerated() { numbers[place / 4] |= UInt32(byte) << UInt32(place % 4 * 8) }
        let (width, height) = (Int(numbers[2]), Int(numbers[3]))
        let isSize = width > 0 && height > 0 && width <= 1 << 20 && height <= 1 << 20
        guard numbers[0] == Self.mark else { return nil }
        switch numbers[1] {
        case 1 where isSize && width * height <= PictureLimits.pixels:
            self = .info(width: width, height: height, isAnimated: numbers[4] == 1)
        case 2 where isSize && width * height <= PictureLimits.shownPixels && numbers[4] <= 1 << 20:
            self = .frame(width: width, height: height, delay: Int(numbers[4]))
        case 3: self = .end
        case 4: self = .failure(PictureFailure(rawValue: numbers[2]) ?? .broken)
        default: return nil
        }
    }
}

/// Why a picture can't be shown.
public enum PictureFailure: UInt32, Error, Sendable {
    /// It is of no kind that is shown: PNG, JPEG, GIF, WebP, BMP and TIFF are.
    case unknownFormat = 1
    /// It has more pixels or bytes than ``PictureLimits`` allow.
    case tooLarge = 2
    /// It is cut off, or not what it says.
    case broken = 3
    /// It took too long or too much memory, or the decoder could not be started.
    case stopped = 4
}

/// What decoding a picture may cost, whatever a file claims.
public enum PictureLimits {
    /// Pixels of the picture itself: a few bytes can claim any number.
    public static let pixels = 40_000_000
    /// Pixels of what is handed over.
    public static let shownPixels = 12_000_000
    /// Bytes of the file.
    public static let bytes = 40 << 20
    /// Bytes of memory that the process may map, libraries and all.
    public static let memory = 256 << 20
    /// Seconds that it may compute for one frame.
    public static let seconds = 5
}
