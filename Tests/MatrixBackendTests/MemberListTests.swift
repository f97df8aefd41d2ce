import ChatCore
import ChatTestSupport
import CryptoTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// Encrypted messages while the server's list of a room's members cannot be right.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct MemberListTests {
    private let folder = TemporaryFolder()
    private let devices = KnownDevices()
    private let clock = ManualClock()

    @Test(
        "While the list lacks the user who asks, nothing is sent and nobody gets the key; then the message is sent",
        arguments: [nil, "invite", "leave"])
    func lacksOwnUser(membership: String?) async throws {
        let server = RecordingHomeserver()
        let bob = try ReadingDevice("@bob:example.org", "BOB")
        try server.add(bob, named: "Bob")
        try devices.add(bob.device)
        let own = EncryptedAccount.user.rawValue
        let isRight = Mutex(false)
        let account = try await EncryptedAccount.start(
            in: folder, MemoryCredentialStore(), devices: devices, clock: clock
        ) { request in
            guard request.url.path.hasSuffix("/members"), !isRight.withLock({ $0 }) else {
                return server.answer(request)
            }
            var members = server.members.filter { $0["state_key"]?.string != own }
            if let membership { members.append(Events.member(own, "Me", membership)) }
            return ["chunk": .array(members)]
        }
        let (backend, room) = (account.backend, account.room)
        try await account.sync(EncryptedAccount.state)
        try await backend.send(Fixtures.outgoing("Text", transaction: "t"), to: room)
        func attempts() -> Int { account.server.paths.count { $0.hasSuffix("/members") } }
        while server.events.isEmpty, attempts() < 3 {
            clock.advance(by: .seconds(20))
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(server.events.isEmpty && server.keyMessages.isEmpty)
        isRight.withLock { $0 = true }
        while server.events.isEmpty {
            clock.advance(by: .seconds(20))
            try await Task.sleep(for: .milliseconds(5))
        }
        await backend.sendingEnds(in: room)
        for message in server.keyMessages { try bob.receive(message) }
        let sent = server.events.compactMap { $0["content"] }
        try #require(sent.count == 1)
        #expect(try bob.read(sent[0])?.text == "Text")
        await account.close()
    }
}
