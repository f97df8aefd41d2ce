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
}
