import Glibc
public import MediaDecoding

/// Writes records to standard output. If the reader is gone, the process ends.
public enum RecordOutput {
    public static func send(_ record: ImageRecord) {
        record.bytes.withUnsafeBytes { write($0) }
    }

    public static func send(_ record: VideoRecord) {
        record.bytes.withUnsafeBytes { write($0) }
    }

    public static func fail(_ failure: ImageFailure) -> Never {
        send(ImageRecord.failure(failure))
        _exit(0)
    }

    public static func end() -> Never {
        send(ImageRecord.end)
        _exit(0)
    }

    public static func write(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(1, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { _exit(0) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }
}
