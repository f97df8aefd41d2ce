import Foundation
import Fuzzing

/// Unsynchronized: libFuzzer runs on one thread.
nonisolated(unsafe) private var calls = 0
/// Renewed now and then: sessions end after so many messages.
nonisolated(unsafe) private var run = try? RatchetsFuzzRun()

/// Called once by libFuzzer, before any input.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    atexit { FileHandle.standardError.write(Data("calls: \(calls)\n".utf8)) }
    return 0
}

/// Called by libFuzzer for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    calls += 1
    if calls.isMultiple(of: 1_000) { run = try? RatchetsFuzzRun() }
    guard let run else { fatalError("the encryption library is absent") }
    if let violation = run.violation(of: Array(UnsafeBufferPointer(start: bytes, count: count))) {
        fatalError(violation)
    }
    return 0
}
