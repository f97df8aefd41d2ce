import ChatCore
import CryptoTestSupport
import MatrixCrypto
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct RoomTrustTests {
    @Test("The warnings about a room are read once while nothing changes, and the history's members not at all")
    func reads() async throws {
        var fixture = try await SendingFixture()
        let room = fixture.room
        _ = try await fixture.say("One")
        let machine = fixture.subject
        for _ in 0..<2 {
            let trust = try await machine.trust(in: room) {
                Issue.record("all members are known")
                return []
            }
            #expect(trust == RoomTrust())
            // The identities, from now on.
            await fixture.machine.storage.failReading([.identity])
        }
        try await fixture.sync(changed: ["@a:b"])
        await #expect(throws: FakeCryptoStorage.Full.self) { try await machine.trust(in: room) { [] } }
        await fixture.machine.storage.failReading([])
        #expect(try await machine.trust(in: room) { [] } == RoomTrust())
        // Not all members are known any more.
        try await fixture.sync([.gap])
        await #expect(throws: CancellationError.self) {
            try await machine.trust(in: room) { throw CancellationError() }
        }
    }
}
