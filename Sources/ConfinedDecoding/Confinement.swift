import CConfinement
import Glibc
public import PictureDecoding

/// Gives up what a decoder does not need: opening, connecting, starting, and more memory and time than it may take.
public enum Confinement {
    /// Closes what was inherited by mistake: all but standard input, output and errors.
    public static func closeOthers() { shim_close_others() }

    /// - Parameter memory: bytes that the process may map from here on, libraries and all.
    public static func start(memory: Int) {
        // What is open stays open, and nothing else is opened, on kernels without seccomp too.
        _ = shim_limit(Int32(RLIMIT_NOFILE.rawValue), 3)
        _ = shim_limit(Int32(RLIMIT_FSIZE.rawValue), 0)
        _ = shim_limit(Int32(RLIMIT_CORE.rawValue), 0)
        guard shim_limit(Int32(RLIMIT_AS.rawValue), rlim_t(memory)) == 0 else { RecordOutput.fail(.stopped) }
        allowTime()
        _ = shim_confine()
    }

    /// Starts the time of a frame.
    public static func allowTime() { shim_allow_seconds(ImageLimits.seconds) }

    /// Starts the time of a frame that is decoded for the sake of a later one, which is the first that is wanted,
    /// unless the process has computed for ``VideoLimits/secondsToStart`` by then.
    public static func allowTimeToStart() {
        var used = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0, used.tv_sec < VideoLimits.secondsToStart else {
            return
        }
        allowTime()
    }
}
