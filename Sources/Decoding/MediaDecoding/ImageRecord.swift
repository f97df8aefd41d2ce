/// The records that `parlance-decode` writes to its standard output.
///
/// A record has twenty bytes: five little-endian 32-bit integers, which are a tag, the kind and three values. The
/// record of a frame is followed by its RGBA pixels, without padding between lines.
public enum ImageRecord: Equatable, Sendable {
    /// The first record: the size in pixels with the orientation applied.
    case info(width: Int, height: Int, isAnimated: Bool)
    /// - delay: Milliseconds until the next frame.
    case frame(width: Int, height: Int, delay: Int)
    /// The end of the output.
    case end
    case failure(ImageFailure)

    /// The size of a record in bytes.
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

    /// Parses a record.
    /// - Returns: `nil` for an invalid record. The process decodes untrusted files, so its output is not trusted.
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

/// Why an image cannot be shown or a video cannot be played.
public enum ImageFailure: UInt32, Error, Sendable {
    /// Not one of the supported formats PNG, JPEG, GIF, WebP, AVIF, HEIC, BMP and TIFF, or its library is not
    /// installed.
    case unknownFormat = 1
    /// More pixels or bytes than ``ImageLimits`` allow.
    case tooLarge = 2
    /// Truncated or invalid.
    case broken = 3
    /// Decoding exceeded its time or memory limit, or the process could not be started.
    case stopped = 4
}

/// Resource limits for decoding an image.
public enum ImageLimits {
    /// The maximum number of pixels of the stored image; a header can claim any size.
    public static let pixels = 40_000_000
    /// The maximum number of pixels of a decoded frame.
    public static let displayPixels = 12_000_000
    /// The maximum file size.
    public static let bytes = 40 << 20
    /// The maximum address space of the process in bytes, including libraries.
    public static let memory = 256 << 20
    /// The maximum CPU time per frame in seconds.
    public static let seconds = 5
}
