import CGtk

/// The memory of the process.
public enum Memory {
    /// Returns to the system what was freed, which the allocator keeps otherwise. Takes some milliseconds.
    public static func trim() { malloc_trim(0) }
}
