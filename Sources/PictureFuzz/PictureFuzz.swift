import Glibc
import PictureFuzzing

/// libFuzzer runs on one thread.
nonisolated(unsafe) private var steps = 0
private let kind: ImageFuzzRun.Kind = {
    guard let name = getenv("PARLANCE_FUZZ_KIND"), let kind = ImageFuzzRun.Kind(rawValue: String(cString: name))
    else {
        fatalError("PARLANCE_FUZZ_KIND is one of \(ImageFuzzRun.Kind.allCases.map(\.rawValue))")
    }
    return kind
}()

/// libFuzzer calls this once, before all else.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    atexit { print("\(kind.rawValue) steps: \(steps)") }
    return 0
}

/// libFuzzer calls this with ever new bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    steps += 1
    if let violation = ImageFuzzRun.run(Array(UnsafeBufferPointer(start: bytes, count: count)), as: kind) {
        fatalError(violation)
    }
    return 0
}
