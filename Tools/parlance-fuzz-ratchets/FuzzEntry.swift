import Foundation
import Fuzzing

/// Unsynchronized: libFuzzer runs on one thread.
nonisolated(unsafe) private var count: FuzzCount = {
    let limit = ProcessInfo.processInfo.environment["PARLANCE_FUZZ_STEPS"]
    guard let count = FuzzCount(limit: limit) else { fatalError("PARLANCE_FUZZ_STEPS is '\(limit ?? "")'") }
    return count
}()
/// Renewed now and then: sessions end after so many messages.
nonisolated(unsafe) private var run = try? RatchetsFuzzRun()

/// Called once by libFuzzer, before any input.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> CInt {
    atexit {
        report()
        if count.endsEarly { _exit(1) }
    }
    return 0
}

private func report() { FileHandle.standardError.write(Data("\(count.summary)\n".utf8)) }

/// Called by libFuzzer for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: size))
    // Without a call there is no step.
    guard !input.isEmpty else { return 0 }
    if (count.steps + 1).isMultiple(of: 1_000) { run = try? RatchetsFuzzRun() }
    guard let run else { fatalError("the encryption library is absent") }
    if let violation = run.violation(of: input) { fatalError(violation) }
    if count.advance(to: count.steps + 1) { report() }
    if count.isComplete {
        report()
        // libFuzzer takes a process that ends by itself for one that failed.
        _exit(0)
    }
    return 0
}
