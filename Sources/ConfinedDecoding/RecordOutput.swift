import Glibc
public import PictureDecoding

/// The standard output. Whoever reads it may go at any time: the process ends then.
public enum RecordOutput {
    public static func send(_ record: PictureRecord) {
        record.bytes.withUnsafeBytes { write($0) }
    }

    public static func send(_ record: FilmRecord) {
        record.bytes.withUnsafeBytes { write($0) }
    }

    public static func fail(_ failure: PictureFailure) -> Never {
        send(PictureRecord.failure(failure))
        _exit(0)
    }

    public static func end() -> Never {
        send(PictureRecord.end)
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
