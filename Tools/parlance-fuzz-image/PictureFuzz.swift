import Fuzzing
import Glibc

/// Unsynchronized: libFuzzer runs on one thread.
nonisolated(unsafe) private var steps = 0
private let kind: ImageFuzzRun.Kind = {
    guard let name = getenv("PARLANCE_FUZZ_KIND"), let kind = ImageFuzzRun.Kind(rawValue: String(cString: name))
    else {
        fatalError("PARLANCE_FUZZ_KIND is one of \(ImageFuzzRun.Kind.allCases.map(\.rawValue))")
    }
    return kind
}()

/// Called once by libFuzzer, before any input.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    atexit { print("\(kind.rawValue) steps: \(steps)") }
    return 0
}

/// Called by libFuzzer for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    steps += 1
    if let violation = ImageFuzzRun.run(Array(UnsafeBufferPointer(start: bytes, count: count)), as: kind) {
        fatalError(violation)
    }
    return 0
}
