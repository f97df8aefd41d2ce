import Foundation
import Fuzzing
import Ratchets
import Testing
import ToolSupport

/// A short run of the fuzzer that `build-aux/fuzz ratchets` runs for long.
@Suite(.enabled(if: EncryptionSetting.isOn)) struct RatchetsFuzzTests {
    @Test(arguments: 0..<8)
    func anythingIsRefusedOrAnswered(seed: Int) throws {
        let run = try RatchetsFuzzRun()
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<500 {
            let count = Int.random(in: 0...200, using: &random)
            let input = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(run.violation(of: input) == nil, "\(input)")
        }
    }

    @Test(
        "Whatever its lengths and pointers are, each function of the header fails or succeeds as that says",
        arguments: RatchetCalls.names)
    func eachFunction(name: String) throws {
        let calls = try #require(RatchetCalls())
        let selector = UInt8(try #require(RatchetCalls.names.firstIndex(of: name)))
        var random = SeededGenerator(seed: UInt64(selector))
        for _ in 0..<200 {
            let count = Int.random(in: 0...200, using: &random)
            let input = [selector] + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(calls.violation(of: input) == nil, "\(input)")
        }
    }

    @Test("No function of the header is left out")
    func allFunctions() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let header = tests.deletingLastPathComponent().appending(path: "Sources/CLibraries/CRatchets/ratchets.h")
        let text = try String(contentsOf: header, encoding: .utf8)
        let declared = text.matches(of: /(ratchet_[a-z0-9_]+)\(/).map { String($0.1) }
        #expect(declared.count > 70 && RatchetCalls.names.sorted() == declared.sorted())
    }
}
