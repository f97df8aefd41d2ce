/// What the process that decodes films and sounds tells, one after the other, over its standard output: twenty bytes as
/// of a ``ImageRecord``, with a mark of their own. Pixels follow a frame, samples a sound.
public enum VideoRecord: Equatable, Sendable {
    /// Before anything else. Times are in milliseconds, sizes in pixels as the film is sent; 0 for a sound alone.
    case media(duration: Int, width: Int, height: Int, hasAudio: Bool)
    /// A frame, to be shown from `time` on.
    case frame(width: Int, height: Int, time: Int)
    /// So many samples of two channels, 16 bits each, ``VideoLimits/sampleRate`` of them a second.
    case audio(samples: Int, time: Int)
    case end
    case failure(ImageFailure)

    public var bytes: [UInt8] {
        switch self {
        case .media(let duration, let width, let height, let hasAudio):
            RecordNumbers.bytes(.video, 1, duration, width << 16 | height, hasAudio ? 1 : 0)
        case .frame(let width, let height, let time): RecordNumbers.bytes(.video, 2, width << 16 | height, time, 0)
        case .audio(let samples, let time): RecordNumbers.bytes(.video, 3, samples, time, 0)
        case .end: ImageRecord.end.bytes
        case .failure(let failure): ImageRecord.failure(failure).bytes
        }
    }

    /// - Returns: nil for anything that no decoder would tell: it is not to be believed, whoever wrote it.
    public init?(_ bytes: some Collection<UInt8>) {
        switch ImageRecord(bytes) {
        case .failure(let failure):
            self = .failure(failure)
            return
        case .end:
            self = .end
            return
        default: break
        }
        guard let numbers = RecordNumbers.read(bytes, .video) else { return nil }
        func size(_ number: Int) -> (width: Int, height: Int)? {
            let (width, height) = (number >> 16, number & 0xFFFF)
            return width > 0 && height > 0 && width * height <= ImageLimits.displayPixels ? (width, height) : nil
        }
        switch numbers[0] {
        case 1:
            let displaySize = size(numbers[2])
            guard displaySize != nil || numbers[2] == 0 else { return nil }
            self = .media(
                duration: numbers[1], width: displaySize?.width ?? 0, height: displaySize?.height ?? 0,
                hasAudio: numbers[3] == 1)
        case 2:
            guard let displaySize = size(numbers[1]) else { return nil }
            self = .frame(width: displaySize.width, height: displaySize.height, time: numbers[2])
        case 3 where numbers[1] > 0 && numbers[1] <= VideoLimits.samples:
            self = .audio(samples: numbers[1], time: numbers[2])
        default: return nil
        }
    }
}

/// What decoding a film or a sound may cost, whatever a file claims.
public enum VideoLimits {
    /// Pixels of a stored frame: 4096 × 2304.
    public static let pixels = 4096 * 2304
    /// Bytes of memory that the process may map, libraries and all.
    public static let memory = 1 << 30
    /// Seconds that it may compute until the first frame that is wanted: films are decoded from a key frame on, which
    /// may be far before it.
    public static let secondsToStart = 30
    /// Samples a second of what is handed over.
    public static let sampleRate = 48_000
    /// Samples in a record.
    public static let samples = 48_000
}
