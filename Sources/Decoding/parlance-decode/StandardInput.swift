import Glibc
import MediaDecoding

/// The file on standard input.
enum StandardInput {
    /// Maps the file into memory. Truncating it meanwhile ends the process with `SIGBUS`.
    static func mapped() throws(ImageFailure) -> UnsafeRawBufferPointer {
        var status = stat()
        guard fstat(0, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .broken }
        guard status.st_size <= ImageLimits.bytes else { throw .tooLarge }
        guard status.st_size > 0 else { throw .unknownFormat }
        guard let start = mmap(nil, status.st_size, PROT_READ, MAP_PRIVATE, 0, 0), start != MAP_FAILED else {
            throw .stopped
        }
        return UnsafeRawBufferPointer(start: start, count: status.st_size)
    }
}
