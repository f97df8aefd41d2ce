public import Glibc
import Synchronization

/// A `parlance-decode` or `parlance-film` process that decodes a file. Except for ``interrupt()`` all calls block: use
/// one background thread at a time.
public final class ImageProcess: Sendable {
    /// What to decode of an image; see `parlance-decode`.
    public enum Mode: String, Sendable {
        case size, still, play
    }

    /// What to decode of a video or audio file; see `parlance-film`.
    public enum VideoMode: String, Sendable {
        /// Only size and duration.
        case size
        /// One frame, as of an image.
        case still
        /// Frames and audio.
        case video = "film"
    }

    /// The timeout in seconds for each read. The process is limited to less CPU time, but competes with others.
    public static let timeout = 10
    /// The timeout for obtaining the size or a complete still frame, which bounds how long queued requests wait.
    private static let totalTimeout = Duration.seconds(3 * timeout)

    public let identifier: pid_t
    private let output: Int32
    /// The deadline for the size or a complete still frame; `nil` for playback.
    private let deadline: SuspendingClock.Instant?
    /// Whether the first frame or audio of a video has arrived, which may require decoding from a much earlier key
    /// frame; always true for images.
    private let hasStarted = Atomic(false)
    /// Whether the process has reported the file's info, which it may do only once.
    private let hasReportedInfo = Atomic(false)
    /// Whether the process was reaped, after which its ID may be reused.
    private let isReaped = Mutex(false)

    /// Starts decoding an image.
    ///
    /// - Parameters:
    ///   - path: A regular file. The process gets it as standard input and cannot open files.
    ///   - width: The width of the box to fit the image in, 1 to 16,384 pixels.
    public convenience init(_ mode: Mode, path: String, width: Int, height: Int) throws(ImageFailure) {
        guard let program = Self.path(of: "parlance-decode") else { throw .stopped }
        try self.init(
            program, [mode.rawValue] + Self.box(width, height), path, maxBytes: ImageLimits.bytes,
            within: mode == .play ? nil : Self.totalTimeout)
    }

    /// Starts decoding a video or audio file.
    /// - Parameter time: The start position in milliseconds.
    public convenience init(
        film mode: VideoMode, path: String, width: Int, height: Int, from time: Int = 0
    ) throws(ImageFailure) {
        guard let program = Self.path(of: "parlance-film") else { throw .stopped }
        try self.init(
            program, [mode.rawValue] + Self.box(width, height) + ["\(max(0, time))"], path, maxBytes: .max,
            within: mode == .video ? nil : Self.totalTimeout)
    }

    /// `F_SETPIPE_SZ`, which Glibc's module lacks.
    private static let setPipeSize: Int32 = 1031

    private static func box(_ width: Int, _ height: Int) -> [String] {
        [width, height].map { String(min(max($0, 1), 16384)) }
    }

    /// - Parameters:
    ///   - maxBytes: The maximum file size.
    ///   - time: The time until the deadline.
    init(
        _ program: String, _ arguments: [String], _ path: String, maxBytes: Int, within time: Duration?
    ) throws(ImageFailure) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .broken }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .broken }
        guard status.st_size <= maxBytes else { throw .tooLarge }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw .stopped }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // The most that users without privileges may have: a frame of a screen is 8 MB, and each filling switches
        // processes.
        _ = fcntl(ends[0], Self.setPipeSize, 1 << 20)
        defer { close(ends[1]) }
        guard let identifier = Self.spawn([program] + arguments, input: file, output: ends[1]) else {
            close(ends[0])
            throw .stopped
        }
        self.identifier = identifier
        output = ends[0]
        deadline = time.map { .now + $0 }
    }

    /// Returns the next record. The pixels of a frame have to be read before the record after it.
    public func record() -> ImageRecord {
        hasStarted.store(true, ordering: .relaxed)
        guard let bytes = recordBytes() else { return .failure(.stopped) }
        let record = ImageRecord(bytes)
        if case .info = record, isRepeatedInfo() { return .failure(.broken) }
        return record ?? .failure(.broken)
    }

    /// Returns the next record of a video. The data of a frame or of audio have to be read before the record after it.
    public func videoRecord() -> VideoRecord {
        guard let bytes = recordBytes() else { return .failure(.stopped) }
        let record = VideoRecord(bytes)
        switch record {
        case .media where isRepeatedInfo(): return .failure(.broken)
        case .frame, .audio: hasStarted.store(true, ordering: .relaxed)
        default: break
        }
        return record ?? .failure(.broken)
    }

    private func recordBytes() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: ImageRecord.length)
        return bytes.withUnsafeMutableBytes { read(into: $0) } ? bytes : nil
    }

    private func isRepeatedInfo() -> Bool { hasReportedInfo.exchange(true, ordering: .relaxed) }

    /// Fills the buffer.
    /// - Returns: `false` at the end of the output, after ``timeout`` without data, or after the deadline.
    public func read(into buffer: UnsafeMutableRawBufferPointer) -> Bool {
        var rest = buffer
        while !rest.isEmpty {
            var wait = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let time = remainingTime
            guard time > 0 else { return false }
            let ready = poll(&wait, 1, time)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return false }
            let count = Glibc.read(output, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return true
    }

    /// The timeout of the next read in milliseconds; longer for a video's first frame (``VideoLimits/secondsToStart``).
    private var remainingTime: Int32 {
        let maxWait = Int32(Self.timeout) * 1000
        guard let deadline else { return hasStarted.load(ordering: .relaxed) ? maxWait : maxWait * 4 }
        return Int32(min(Double(maxWait), max(0, (deadline - .now) / .milliseconds(1))).rounded(.up))
    }

    /// Kills the process, so a blocked call returns. May be called on any thread at any time.
    /// - Returns: `false` if the process was finished already.
    @discardableResult
    public func interrupt() -> Bool {
        isReaped.withLock { isReaped in
            if !isReaped { kill(identifier, SIGKILL) }
            return !isReaped
        }
    }

    /// Kills and reaps the process. Only ``interrupt()`` may be called afterwards.
    /// - Returns: The peak memory in bytes and the CPU time. The process inherits this program's peak, so the value
    ///   is an upper bound.
    @discardableResult
    public func finish() -> (mostMemory: Int, seconds: Double) {
        interrupt()
        close(output)
        // Wait for the exit without the lock, because it may take a while; the ID stays valid until the process is
        // reaped.
        var exitInfo = siginfo_t()
        while waitid(P_PID, id_t(identifier), &exitInfo, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        let use = isReaped.withLock { isReaped in
            var (status, use): (Int32, rusage) = (0, rusage())
            while wait4(identifier, &status, 0, &use) < 0, errno == EINTR {}
            isReaped = true
            return use
        }
        let seconds = Double(use.ru_utime.tv_sec + use.ru_stime.tv_sec)
        return (use.ru_maxrss * 1024, seconds + Double(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1_000_000)
    }

    // MARK: Spawning

    private static func spawn(_ arguments: [String], input: Int32, output: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        guard posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        guard posix_spawnattr_init(&attributes) == 0 else { return nil }
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var list: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = Self.environment.map { strdup($0) } + [nil]
        defer { for text in list + environment { free(text) } }
        var identifier: pid_t = 0
        return posix_spawn(&identifier, arguments[0], &actions, &attributes, &list, &environment) == 0
            ? identifier : nil
    }

    /// The environment of the process: only variables for locating libraries and plugins.
    private static let environment: [String] = {
        let names: [String] = ["LD_LIBRARY_PATH", "LIBHEIF_PLUGIN_PATH"]
        return names.compactMap { (name: String) -> String? in getenv(name).map { "\(name)=\(String(cString: $0))" } }
    }()

    /// Returns the path of a helper program, beside the binary that contains this code or in `libexec`.
    private static func path(of program: String) -> String? {
        guard let folder = binaryFolder else { return nil }
        return ["\(folder)/\(program)", "\(folder)/../libexec/parlance/\(program)"].first { access($0, X_OK) == 0 }
    }

    /// The folder of the binary that contains this code, from the memory mapping of an address in it.
    private static let binaryFolder: String? = {
        guard let maps = fopen("/proc/self/maps", "re") else { return nil }
        defer { fclose(maps) }
        let codeAddress = UInt64(UInt(bitPattern: #dsohandle))
        var line = [CChar](repeating: 0, count: 5000)
        while fgets(&line, Int32(line.count), maps) != nil {
            // "55d0-55d4 r-xp 0000 fe:01 123    /path"
            let text = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            let ends = text.prefix { $0 != " " }.split(separator: "-").compactMap { UInt64($0, radix: 16) }
            guard ends.count == 2, ends[0] <= codeAddress, codeAddress < ends[1], let start = text.firstIndex(of: "/"),
                let end = text.lastIndex(of: "/")
            else { continue }
            return String(text[start..<end])
        }
        return nil
    }()
}
