import CGtk
import Glibc

/// The memory of the process.
public nonisolated enum Memory {
    /// Returns freed memory to the system, which the allocator otherwise retains. Takes some milliseconds.
    @concurrent
    public static func trim() async { malloc_trim(0) }

    /// Unmaps the pages of the program's own code. Pages that are used again are read from the file.
    ///
    /// Nearly half of what is mapped after a start ran only then, or was read ahead; without a window, the program uses a
    /// fraction of a megabyte. It stays mapped otherwise, and Linux is slow to reclaim mapped code when memory is short.
    @concurrent
    public static func forgetCode() async {
        let (page, end) = (UInt(getpagesize()), UInt(bitPattern: shim_code_end()))
        // Writable data starts on a later page, so that all of these pages are unchanged copies of the file.
        let start = UInt(bitPattern: shim_code_start()) & ~(page - 1)
        madvise(UnsafeMutableRawPointer(bitPattern: start), Int((end & ~(page - 1)) - start), MADV_DONTNEED)
    }
}
