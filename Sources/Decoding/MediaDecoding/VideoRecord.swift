/// The records that `parlance-film` writes to its standard output: twenty bytes like an ``ImageRecord``, with a
/// different tag. Pixels follow a frame, samples follow audio.
public enum VideoRecord: Equatable, Sendable {
    /// The first record: the duration in milliseconds, and the frame size in pixels or 0 for audio only.
    case media(duration: Int, width: Int, height: Int, hasAudio: Bool)
    /// A frame to be shown from `time` on, in milliseconds.
    case frame(width: Int, height: Int, time: Int)
    /// The number of stereo samples, 16 bits per channel, at ``VideoLimits/sampleRate``.
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

    /// Parses a record.
    /// - Returns: `nil` for an invalid record. The process decodes untrusted files, so its output is not trusted.
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

/// Resource limits for decoding a video or audio file.
public enum VideoLimits {
    /// The maximum number of pixels of a stored frame: 4096 × 2304.
    public static let pixels = 4096 * 2304
    /// The maximum address space of the process in bytes, including libraries.
    public static let memory = 1 << 30
    /// The maximum CPU time in seconds up to the first requested frame: decoding begins at a key frame, which may be
    /// far before it.
    public static let secondsToStart = 30
    /// The output's sample rate in Hz.
    public static let sampleRate = 48_000
    /// The maximum number of samples in a record.
    public static let samples = 48_000
}
