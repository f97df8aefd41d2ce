import Foundation
import Fuzzing

/// Unsynchronized: libFuzzer runs on one thread.
nonisolated(unsafe) private var documents = 0

/// Called once by libFuzzer, before any input.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    atexit { FileHandle.standardError.write(Data("documents: \(documents)\n".utf8)) }
    return 0
}

/// Called by libFuzzer for every input: the first byte selects the checks, and the rest is the document.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeBufferPointer(start: bytes, count: count)
    guard let manner = input.first else { return 0 }
    documents += 1
    // Run these checks rarely: Foundation takes ten times as long, and the depth limit needs long documents.
    let violation = JSONInvariants.violation(
        of: Array(input.dropFirst()), manners: CollectionOfOne(JSONInvariants.manners[Int(manner & 3)]),
        nesting: manner >> 4 == 15 ? 505 + Int(manner & 15) : 0, asksFoundation: manner >> 3 == 0)
    if let violation { fatalError(violation) }
    return 0
}
