import ComposerFuzzing
import Foundation
import JSONFuzzing

/// libFuzzer runs on one thread.
nonisolated(unsafe) private var documents = 0

/// libFuzzer calls this once, before all else.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    atexit { FileHandle.standardError.write(Data("documents: \(documents)\n".utf8)) }
    return 0
}

/// libFuzzer calls this with ever new bytes: the first one says what is tried, the others are the document.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: bytes, count: count)
    guard let manner = input.first else { return 0 }
    documents += 1
    // Foundation takes ten times as long, and the bound needs long documents: now and then will do.
    let violation = JSONInvariants.violation(
        of: Array(input.dropFirst()), manners: CollectionOfOne(JSONInvariants.manners[Int(manner & 3)]),
        nesting: manner >> 4 == 15 ? 505 + Int(manner & 15) : 0, asksFoundation: manner >> 3 == 0)
    if let violation { fatalError(violation) }
    return 0
}
