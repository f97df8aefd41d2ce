import ChatCore
import ChatOutbox
import ChatTestSupport
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// Encrypted messages while requests for the keys of devices fail.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct FailingKeyRequestsTests {
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private let devices = KnownDevices()

    @Test(
        "Room keys that arrive while queries fail open the messages of their device once it is known",
        arguments: [false, true])
    func reading(restarts: Bool) async throws {
        var account = try await EncryptedAccount.start(in: folder, credentials, devices: devices)
        let ann = try await account.unknownPeer()
        devices.fail(.max)
        try devices.add(ann.device)
        var (keys, events): ([JSONValue], [JSONValue]) = ([], [])
        for number in 1...3 {
            keys.append(try ann.key())
            events.append(try ann.text("$\(number)", "Text \(number)"))
            try ann.rotate()
        }
        try await account.sync(events, toDevice: keys)
        #expect(try await account.messages.map(\.seal) == [.unknownSender, .unknownSender, .unknownSender])
        // By now, the server has deleted the keys.
        if restarts {
            await account.close()
            account = try await EncryptedAccount.start(in: folder, credentials, devices: devices)
        }
        devices.fail(0)
        while await !account.backend.keys.makeAllRequests() { try await Task.sleep(for: .milliseconds(5)) }
        for number in 1...3 {
            let message = try await account.message("$\(number)") { $0.seal != .unknownSender }
            #expect(message.seal == nil && message.text == "Text \(number)")
        }
        await account.close()
    }

    @Test("A message of a known unconfirmed device says so once its owner's outdated list turns out to be unchanged")
    func unchangedList() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials, devices: devices)
        let (keys, ann) = (account.backend.keys, try await account.unknownPeer())
        var device = ann.device
        device.isConfirmed = false
        try devices.add(device)
        let machine = try #require(await keys.machine)
        try await machine.track([device.user])
        #expect(await keys.makeAllRequests())
        devices.fail(.max)
        var sync = CryptoSync(kind: .plain)
        sync.changed = [device.user]
        _ = try await machine.received(sync, at: Fixtures.date)
        let key = try ann.key()
        try await account.sync([ann.text("$1", "Text")], toDevice: [key])
        #expect(try await account.messages.map(\.seal) == [.unknownSender])
        devices.fail(0)
        while await !keys.makeAllRequests() { try await Task.sleep(for: .milliseconds(5)) }
        #expect(try await account.message("$1") { $0.seal != .unknownSender }.seal == .unconfirmedSender)
        await account.close()
    }

    @Test(
        "A message waits while requests for the keys of its readers fail, and they can read it afterwards",
        arguments: ["/keys/query", "/keys/claim", "/sendToDevice/m.room.encrypted/"])
    func sending(_ path: String) async throws {
        let server = RecordingHomeserver()
        let failures = Mutex(0)
        let reader = try ReadingDevice("@bob:example.org", "BOB")
        try server.add(reader, named: "Bob")
        try devices.add(reader.device)
        let account = try await EncryptedAccount.start(
            in: folder, credentials, devices: devices, clock: NonWaitingClock()
        ) { request in
            let fails =
                request.url.path.contains(path)
                && failures.withLock { failures in
                    failures -= 1
                    return failures >= 0
                }
            return fails ? ["status": 504] : server.answer(request)
        }
        let (backend, room) = (account.backend, account.room)
        try await account.sync(EncryptedAccount.state)
        // Known devices answer queries themselves.
        if path == "/keys/query" { devices.fail(4) } else { failures.withLock { $0 = 4 } }
        try await backend.send(Fixtures.outgoing("Text", transaction: "t"), to: room)
        await backend.sendingEnds(in: room)
        for message in server.keyMessages { try reader.receive(message) }
        let sent = server.events.compactMap { $0["content"] }
        try #require(sent.count == 1)
        #expect(try reader.read(sent[0])?.text == "Text")
        let attempts = account.server.paths.count { $0.contains(path) }
        #expect(attempts >= 5)
        await account.close()
    }

    @Test(
        "Both readers can read a message though the server rejects requests for the keys of more than one",
        arguments: ["/keys/claim", "/sendToDevice/m.room.encrypted/"], [400, 413])
    func rejection(_ path: String, status: Int) async throws {
        let server = RecordingHomeserver()
        let readers = try ["Bob", "Carl"].map { name in
            let reader = try ReadingDevice(ExactText("@\(name.lowercased()):example.org"), ExactText(name))
            try server.add(reader, named: name)
            try devices.add(reader.device)
            return reader
        }
        let account = try await EncryptedAccount.start(
            in: folder, credentials, devices: devices, clock: NonWaitingClock()
        ) { request in
            let users = request.json?["one_time_keys"] ?? request.json?["messages"]
            let isRejected = request.url.path.contains(path) && users?.object?.count ?? 0 > 1
            return isRejected ? ["status": .integer(Int64(status)), "errcode": "M_TOO_LARGE"] : server.answer(request)
        }
        try await account.sync(EncryptedAccount.state)
        try await account.backend.send(Fixtures.outgoing("Text", transaction: "t"), to: account.room)
        await account.backend.sendingEnds(in: account.room)
        let sent = server.events.compactMap { $0["content"] }
        try #require(sent.count == 1)
        for reader in readers {
            for message in server.keyMessages(for: reader) { try reader.receive(message) }
            #expect(try reader.read(sent[0])?.text == "Text")
        }
        await account.close()
    }

    @Test("One attempt finds the one of 250 devices for which the server rejects room keys")
    func rejectedDevice() async throws {
        let server = RecordingHomeserver()
        for number in 1...250 {
            let reader = try ReadingDevice(ExactText("@bob\(number):example.org"), "BOB")
            try server.add(reader, named: "Bob \(number)")
            try devices.add(reader.device)
        }
        let account = try await EncryptedAccount.start(
            in: folder, credentials, devices: devices, clock: NonWaitingClock()
        ) { request in
            let isRejected = request.json?["messages"]?["@bob77:example.org"] != nil
            return isRejected ? ["status": 400, "errcode": "M_INVALID_PARAM"] : server.answer(request)
        }
        try await account.sync(EncryptedAccount.state)
        let sealer = RoomSealer(
            keys: account.backend.keys, client: account.backend.client, ownUserID: EncryptedAccount.user,
            syncStatus: account.backend.syncStatus)
        var attempts = 0
        var sealed: JSONValue?
        while sealed == nil {
            attempts += 1
            do {
                sealed = try await sealer.sealed(
                    "m.room.message", ["msgtype": "m.text", "body": "Text"], in: account.room)
            } catch DeliveryError.unreachable {
                // The attempt that finds the device ends so, and the next one waits for it no more.
            }
        }
        #expect(attempts <= 2)
        #expect(server.keyMessages.count == 249)
        await account.close()
    }
}
