import CConfinement
import Glibc
import MediaDecoding

/// Sandboxes a decoder: no opening of files, connections, processes or threads, and limits on memory and time.
public enum Confinement {
    /// Closes inherited file descriptors except standard input, output and error.
    public static func closeOthers() { shim_close_others() }

    /// Confines the process.
    /// - Parameter memory: The maximum address space in bytes, including libraries.
    public static func start(memory: Int) {
        // Resource limits prevent opening further files even on kernels without seccomp.
        _ = shim_limit(Int32(RLIMIT_NOFILE.rawValue), 3)
        _ = shim_limit(Int32(RLIMIT_FSIZE.rawValue), 0)
        _ = shim_limit(Int32(RLIMIT_CORE.rawValue), 0)
        guard shim_limit(Int32(RLIMIT_AS.rawValue), rlim_t(memory)) == 0 else { RecordOutput.fail(.stopped) }
        allowTime()
        _ = shim_confine()
    }

    /// Renews the CPU time limit for a frame.
    public static func allowTime() { shim_allow_seconds(ImageLimits.seconds) }

    /// Renews the CPU time limit while frames before the first requested one are decoded, up to
    /// ``VideoLimits/secondsToStart`` in total.
    public static func allowTimeToStart() {
        var used = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0, used.tv_sec < VideoLimits.secondsToStart else {
            return
        }
        allowTime()
    }
}
