import ComposerFuzzing
import Foundation
import MarkupFuzzing

/// libFuzzer runs on one thread.
nonisolated(unsafe) private var steps = 0

/// libFuzzer calls this once, before all else.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    atexit { FileHandle.standardError.write(Data("messages: \(steps)\n".utf8)) }
    return 0
}

/// libFuzzer calls this with ever new bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let source = BufferBytes(UnsafeBufferPointer(start: bytes, count: count))
    let result = MarkupFuzzRun.run(source, steps: .max)
    steps += result.steps
    if let violation = result.violation { fatalError(violation) }
    return 0
}
