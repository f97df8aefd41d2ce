import AccountFuzzing
import Foundation
import Fuzzing

/// Unsynchronized: libFuzzer runs on one thread.
nonisolated(unsafe) private var calls = 0
/// How many documents, events and actions to make before the process ends; libFuzzer counts inputs.
private let maxSteps = ProcessInfo.processInfo.environment["PARLANCE_FUZZ_STEPS"].flatMap(Int.init) ?? .max
private let thread = WaitingThread()
private let run: CryptoFuzzRun = {
    let name = ProcessInfo.processInfo.environment["PARLANCE_FUZZ_KIND"] ?? ""
    if name == "account" { return CryptoFuzzRun(AccountDataFuzz.self) }
    guard let kind = CryptoFuzzRun.Kind(rawValue: name) else { fatalError("PARLANCE_FUZZ_KIND is '\(name)'") }
    return CryptoFuzzRun(kind)
}()

/// Called once by libFuzzer, before any input.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzInitialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    atexit { report() }
    return 0
}

private func report() { FileHandle.standardError.write(Data("calls: \(calls), steps: \(run.steps)\n".utf8)) }

/// Called by libFuzzer for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    calls += 1
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let run = run
    thread.run { if let violation = await run.violation(of: input) { fatalError(violation) } }
    if run.steps >= maxSteps {
        report()
        // libFuzzer takes a process that ends by itself for one that failed.
        _exit(0)
    }
    return 0
}
