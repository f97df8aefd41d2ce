import AccountFuzzing
import Fuzzing
import Testing
import ToolSupport

/// A short run of `build-aux/fuzz crypto-account`.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct AccountFuzzTests {
    @Test("Any content of the secret storage and the backup is either rejected or read")
    func anythingIsRefusedOrRead() async {
        let run = CryptoFuzzRun(AccountDataFuzz.self)
        var random = SeededGenerator(seed: 22)
        for _ in 0..<600 {
            let count = Int.random(in: 0...60, using: &random)
            let input = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let violation = await run.violation(of: input)
            #expect(violation == nil, "\(input)")
            if violation != nil { return }
        }
    }
}
