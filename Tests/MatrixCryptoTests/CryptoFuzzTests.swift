import Fuzzing
import Testing
import ToolSupport

/// A short run of the fuzzers that `build-aux/fuzz crypto-NAME` runs for long.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct CryptoFuzzTests {
    @Test("Any input of servers, devices, users and files is rejected or read", arguments: CryptoFuzzRun.Kind.allCases)
    func anythingIsRefusedOrRead(kind: CryptoFuzzRun.Kind) async {
        let run = CryptoFuzzRun(kind)
        var random = SeededGenerator(seed: 22)
        for _ in 0..<300 {
            let count = Int.random(in: 0...60, using: &random)
            let input = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let violation = await run.violation(of: input)
            #expect(violation == nil, "\(input)")
            if violation != nil { return }
        }
    }
}
