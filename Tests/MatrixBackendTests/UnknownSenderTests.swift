import ChatCore
import ChatTestSupport
import CryptoTestSupport
import Foundation
import JSONReading
import Testing
import ToolSupport

@testable import MatrixBackend

/// What notifies of messages that arrive before the devices of their sender are known.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct UnknownSenderTests {
    private let folder = TemporaryFolder()

    @Test(
        "Until its sender is proven, a message notifies without its text; then only a mention notifies again, with it",
        arguments: [true, false])
    func notifying(isConfirmed: Bool) async throws {
        let devices = KnownDevices()
        let account = try await EncryptedAccount.start(in: folder, MemoryCredentialStore(), devices: devices)
        let ann = try await account.unknownPeer()
        let key = try ann.key()
        let text = try ann.text("$1", "Pay into this account")
        let mention = try ann.event(
            "$2",
            [
                "msgtype": "m.text", "body": "Me, pay into it today",
                "m.mentions": ["user_ids": [.string(EncryptedAccount.user.rawValue)]],
            ])
        var arrivals = account.backend.arrivals().makeAsyncIterator()
        account.server.hold("/keys/query")
        try await account.sync([text, mention], toDevice: [key])
        for id in ["$1", "$2"] {
            let arrival = try #require(await arrivals.next())
            let message = arrival.message
            #expect(message.id.rawValue == id && message.kind == .sealed && message.seal == .unknownSender)
            #expect(arrival.level == .unread && message.text.isEmpty && message.attachments.isEmpty)
            #expect(!"\(arrival)".contains("ay into"))
        }
        #expect(try await account.found("pay").isEmpty)

        var device = ann.device
        device.isConfirmed = isConfirmed
        try devices.add(device)
        account.server.hold(nil)
        let expected: SealReason? = isConfirmed ? nil : .unconfirmedSender
        for id in ["$1", "$2"] { _ = try await account.message(id) { $0.seal == expected } }
        if isConfirmed {
            let arrival = try #require(await arrivals.next())
            #expect(arrival.message.id.rawValue == "$2" && arrival.message.text == "Me, pay into it today")
            #expect(arrival.level == .mention && arrival.isSilent, "by the default rules, which have no sound")
        }
        await account.close()
        let more = await arrivals.next()
        #expect(more == nil)
    }

    @Test("A mention from before the start does not notify when the devices of its sender become known")
    func earlier() async throws {
        let (credentials, devices) = (MemoryCredentialStore(), KnownDevices())
        var account = try await EncryptedAccount.start(in: folder, credentials, devices: devices)
        let ann = try await account.unknownPeer()
        account.server.hold("/keys/query")
        let key = try ann.key()
        let mention = try ann.event(
            "$1",
            [
                "msgtype": "m.text", "body": "Me, tea?",
                "m.mentions": ["user_ids": [.string(EncryptedAccount.user.rawValue)]],
            ])
        try await account.sync([mention], toDevice: [key])
        #expect(try await account.message("$1")?.seal == .unknownSender)
        await account.close()

        devices.fail(.max)
        account = try await EncryptedAccount.start(in: folder, credentials, devices: devices)
        var arrivals = account.backend.arrivals().makeAsyncIterator()
        try await account.sync()
        #expect(try await account.message("$1")?.seal == .unknownSender)
        try devices.add(ann.device)
        devices.fail(0)
        // The first one may still be failing.
        while await !account.backend.keys.makeAllRequests() {}
        _ = try await account.message("$1") { $0.text == "Me, tea?" }
        try await account.sync([try ann.text("$2", "Now")])
        let first = try #require(await arrivals.next())
        #expect(first.message.id.rawValue == "$2")
        await account.close()
    }
}
