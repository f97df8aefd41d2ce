import ComposerFuzzing

/// libFuzzer calls this with ever new bytes: `make fuzz`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let source = BufferBytes(UnsafeBufferPointer(start: bytes, count: count))
    let result = FuzzRun.run(source, steps: .max)
    if let violation = result.violation { fatalError(violation) }
    return 0
}
