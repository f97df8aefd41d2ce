/// What the process that decodes films and sounds tells, one after the other, over its standard output: twenty bytes as
/// of a ``PictureRecord``, with a mark of their own. Pixels follow a frame, samples a sound.
public enum FilmRecord: Equatable, Sendable {
    /// Before anything else. Times are in milliseconds, sizes in pixels as the film is sent; 0 for a sound alone.
    case media(duration: Int, width: Int, height: Int, hasSound: Bool)
    /// A frame, to be shown from `time` on.
    case frame(width: Int, height: Int, time: Int)
    /// So many samples of two channels, 16 bits each, ``FilmLimits/sampleRate`` of them a second.
    case sound(samples: Int, time: Int)
    case end
    case failure(PictureFailure)

    public var bytes: [UInt8] {
        switch self {
        case .media(let duration, let width, let height, let hasSound):
            RecordNumbers.bytes(.film, 1, duration, width << 16 | height, hasSound ? 1 : 0)
        case .frame(let width, let height, let time): RecordNumbers.bytes(.film, 2, width << 16 | height, time, 0)
        case .sound(let samples, let time): RecordNumbers.bytes(.film, 3, samples, time, 0)
        case .end: PictureRecord.end.bytes
        case .failure(let failure): PictureRecord.failure(failure).bytes
        }
    }

    /// - Returns: nil for anything that no decoder would tell: it is not to be believed, whoever wrote it.
    public init?(_ bytes: some Collection<UInt8>) {
        switch PictureRecord(bytes) {
        case .failure(let failure):
            self = .failure(failure)
            return
        case .end:
            self = .end
            return
        default: break
        }
        guard let numbers = RecordNumbers.read(bytes, .film) else { return nil }
        func size(_ number: Int) -> (width: Int, height: Int)? {
            let (width, height) = (number >> 16, number & 0xFFFF)
            return width > 0 && height > 0 && width * height <= PictureLimits.shownPixels ? (width, height) : nil
        }
        switch numbers[0] {
        case 1:
            let shown = size(numbers[2])
            guard shown != nil || numbers[2] == 0 else { return nil }
            self = .media(
                duration: numbers[1], width: shown?.width ?? 0, height: shown?.height ?? 0, hasSound: numbers[3] == 1)
        case 2:
            guard let shown = size(numbers[1]) else { return nil }
            self = .frame(width: shown.width, height: shown.height, time: numbers[2])
        case 3 where numbers[1] > 0 && numbers[1] <= FilmLimits.samples:
            self = .sound(samples: numbers[1], time: numbers[2])
        default: return nil
        }
    }
}

/// What decoding a film or a sound may cost, whatever a file claims.
public enum FilmLimits {
    /// Pixels of a stored frame: 4096 × 2304.
    public static let pixels = 4096 * 2304
    /// Bytes of memory that the process may map, libraries and all.
    public static let memory = 1 << 30
    /// Seconds that it may compute until the first frame that is wanted: films are decoded from a key frame on, which
    /// may be far before it.
    public static let secondsToBegin = 30
    /// Samples a second of what is handed over.
    public static let sampleRate = 48_000
    /// Samples in a record.
    public static let samples = 48_000
}
