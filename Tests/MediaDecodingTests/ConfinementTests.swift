import CConfinement
import Glibc
import Testing

/// The system calls that a confined process may make.
struct ConfinementTests {
    /// Runs `body` in a confined fork of this process: only C functions that take no lock are safe.
    /// - Returns: its wait status (`waitpid`), or `nil` where confinement is not available.
    private func confined(_ body: () -> Int32) throws -> Int32? {
        // Swift marks `fork` as unavailable, since little is safe after it.
        let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: (@convention(c) () -> pid_t).self)
        let child = fork()
        if child == 0 {
            signal(SIGABRT, SIG_DFL)
            signal(SIGSEGV, SIG_DFL)
            signal(SIGILL, SIG_DFL)
            _ = shim_limit(Int32(RLIMIT_CORE.rawValue), 0)
            _exit(shim_confine() == 0 ? body() : 255)
        }
        try #require(child > 0)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status == 255 << 8 ? nil : status
    }

    @Test func signalsToOtherProcessesAreBlocked() throws {
        typealias Signal = @convention(c) (pid_t, pid_t, Int32) -> Int32
        let signal = unsafeBitCast(try #require(dlsym(nil, "tgkill")), to: Signal.self)
        let other = getpid()
        guard let status = try confined({ signal(other, other, 0) == 0 ? 0 : errno }) else { return }
        #expect(status == EPERM << 8)
    }

    @Test func abortEndsTheProcess() throws {
        guard let status = try confined({ abort() }) else { return }
        #expect([SIGABRT, SIGILL, SIGSEGV].contains(status & 0x7F))
    }
}
