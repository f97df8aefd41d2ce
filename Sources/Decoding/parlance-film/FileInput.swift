import CFFmpeg
import Glibc

/// FFmpeg's I/O context for the file on standard input; FFmpeg opens no files itself.
enum FileInput {
    static func open() -> UnsafeMutablePointer<AVIOContext>? {
        let length = 1 << 16
        guard let buffer = av_malloc(length) else { return nil }
        return avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), Int32(length), 0, nil,
            { _, buffer, requestedCount in
                var count: Int
                repeat { count = read(0, buffer, Int(requestedCount)) } while count < 0 && errno == EINTR
                return count > 0 ? Int32(count) : shim_end_of_file
            }, nil,
            { _, offset, whence in
                guard whence & shim_whole_size == 0 else {
                    var status = stat()
                    return fstat(0, &status) == 0 ? Int64(status.st_size) : -1
                }
                return Int64(lseek(0, Int(offset), whence & 3))
            })
    }
}
