import AccountFuzzing
import Foundation
import Fuzzing

/// Unsynchronized: libFuzzer runs on one thread.
nonisolated(unsafe) private var calls = 0
/// The documents, events and actions; libFuzzer counts inputs.
nonisolated(unsafe) private var count: FuzzCount = {
    let limit = ProcessInfo.processInfo.environment["PARLANCE_FUZZ_STEPS"]
    guard let count = FuzzCount(limit: limit) else { fatalError("PARLANCE_FUZZ_STEPS is '\(limit ?? "")'") }
    return count
}()
private let thread = WaitingThread()
private let run: CryptoFuzzRun = {
    let name = ProcessInfo.processInfo.environment["PARLANCE_FUZZ_KIND"] ?? ""
    if name == "account" { return CryptoFuzzRun(AccountDataFuzz.self) }
    guard let kind = CryptoFuzzRun.Kind(rawValue: name) else { fatalError("PARLANCE_FUZZ_KIND is '\(name)'") }
    return CryptoFuzzRun(kind)
}()

/// Called once by libFuzzer, before any input.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_: UnsafeMutableRawPointer?, _: UnsafeMutableRawPointer?) -> CInt {
    atexit {
        report()
        if count.endsEarly { _exit(1) }
    }
    return 0
}

private func report() { FileHandle.standardError.write(Data("calls: \(calls), \(count.summary)\n".utf8)) }

/// Called by libFuzzer for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    calls += 1
    let input = Array(UnsafeBufferPointer(start: bytes, count: size))
    let run = run
    thread.run { if let violation = await run.violation(of: input) { fatalError(violation) } }
    if count.advance(to: run.steps) { report() }
    if count.isComplete {
        report()
        // libFuzzer takes a process that ends by itself for one that failed.
        _exit(0)
    }
    return 0
}
