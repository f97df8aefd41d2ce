/// What the process that decodes pictures tells, one after the other, over its standard output.
///
/// A record is twenty bytes, five little-endian numbers: a mark, the kind, and three that depend on it. The pixels of
/// a frame follow it, four bytes each (red, green, blue, alpha), line by line without gaps.
public enum ImageRecord: Equatable, Sendable {
    /// The size as the picture is meant to be seen, in pixels, before anything else.
    case info(width: Int, height: Int, isAnimated: Bool)
    /// - delay: milliseconds until the next one.
    case frame(width: Int, height: Int, delay: Int)
    /// There is no more.
    case end
    case failure(ImageFailure)

    /// Bytes of a record.
    public static let length = 20

    public var bytes: [UInt8] {
        switch self {
        case .info(let width, let height, let isAnimated):
            RecordNumbers.bytes(.image, 1, width, height, isAnimated ? 1 : 0)
        case .frame(let width, let height, let delay): RecordNumbers.bytes(.image, 2, width, height, delay)
        case .end: RecordNumbers.bytes(.image, 3, 0, 0, 0)
        case .failure(let failure): RecordNumbers.bytes(.image, 4, Int(failure.rawValue), 0, 0)
        }
    }

    /// - Returns: nil for anything that no decoder would tell: it is not to be believed, whoever wrote it.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let numbers = RecordNumbers.read(bytes, .image) else { return nil }
        let (width, height) = (numbers[1], numbers[2])
        let isSize = width > 0 && height > 0 && width <= 1 << 20 && height <= 1 << 20
        switch numbers[0] {
        case 1 where isSize && width * height <= ImageLimits.pixels:
            self = .info(width: width, height: height, isAnimated: numbers[3] == 1)
        case 2 where isSize && width * height <= ImageLimits.displayPixels && numbers[3] <= 1 << 20:
            self = .frame(width: width, height: height, delay: numbers[3])
        case 3: self = .end
        case 4: self = .failure(ImageFailure(rawValue: UInt32(numbers[1])) ?? .broken)
        default: return nil
        }
    }
}

/// Why a picture can't be shown, or a film not be played.
public enum ImageFailure: UInt32, Error, Sendable {
    /// It is of no kind that is shown: PNG, JPEG, GIF, WebP, AVIF, HEIC, BMP and TIFF are, as far as
    /// their libraries are installed.
    case unknownFormat = 1
    /// It has more pixels or bytes than ``ImageLimits`` allow.
    case tooLarge = 2
    /// It is cut off, or not what it says.
    case broken = 3
    /// It took too long or too much memory, or the decoder could not be started.
    case stopped = 4
}

/// What decoding a picture may cost, whatever a file claims.
public enum ImageLimits {
    /// Pixels of the picture itself: a few bytes can claim any number.
    public static let pixels = 40_000_000
    /// Pixels of what is handed over.
    public static let displayPixels = 12_000_000
    /// Bytes of the file.
    public static let bytes = 40 << 20
    /// Bytes of memory that the process may map, libraries and all.
    public static let memory = 256 << 20
    /// Seconds that it may compute for one frame.
    public static let seconds = 5
}
