import CGtk
import Glibc

/// The memory of the process.
public nonisolated enum Memory {
    /// Returns to the system what was freed, which the allocator keeps otherwise. Takes some milliseconds.
    @concurrent
    public static func trim() async { malloc_trim(0) }

    /// Unmaps the pages of the program's own code; those that are needed again come from the file.
    ///
    /// Without a window the program runs a fraction of a megabyte of it. The code of its startup and its windows would stay
    /// mapped, and Linux reclaims mapped code late when memory is short.
    @concurrent
    public static func forgetCode() async {
        let (page, end) = (UInt(getpagesize()), UInt(bitPattern: shim_code_end()))
        // What may be written to begins on a page of its own after it: the file has all that is in these.
        let start = UInt(bitPattern: shim_code_start()) & ~(page - 1)
        madvise(UnsafeMutableRawPointer(bitPattern: start), Int((end & ~(page - 1)) - start), MADV_DONTNEED)
    }
}
