import Foundation
import Fuzzing

/// Unsynchronized: libFuzzer runs on one thread.
nonisolated(unsafe) private var steps = 0

/// Called once by libFuzzer, before any input.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    atexit { FileHandle.standardError.write(Data("composer steps: \(steps)\n".utf8)) }
    return 0
}

/// Called by libFuzzer for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let source = BufferBytes(UnsafeBufferPointer(start: bytes, count: count))
    let result = FuzzRun.run(source, steps: .max)
    steps += result.steps
    if let violation = result.violation { fatalError(violation) }
    return 0
}
