import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Ratchets
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// Messages that a device had sent, and got no answer about, before another one took its place.
@Suite(.timeLimit(.minutes(10))) struct FormerDeviceSendTests {
    /// Loses the answer to the next message, and from then on everything but a sign-out.
    private final class CutTransport: MatrixTransport {
        enum State {
            case whole, cutsAtNextMessage
            /// The server is handling the message.
            case cutting
            case cut
        }

        private let base = CurlTransport()
        let state = Mutex(State.whole)

        func send(_ request: MatrixRequest) async throws -> MatrixResponse {
            let isMessage = request.method == .put && request.url.path.contains("/send/m.room.")
            let isLost = { (state: State) in
                (state == .cutting || state == .cut) && request.url.lastPathComponent != "logout"
            }
            let isTheOne = try state.withLock { state in
                if isLost(state) { throw TransportError.unreachable(reason: "cut") }
                guard state == .cutsAtNextMessage, isMessage else { return false }
                state = .cutting
                return true
            }
            let response = try await base.send(request)
            if isTheOne { state.withLock { $0 = .cut } }
            // What was under way when it was cut is lost as well.
            if state.withLock({ isLost($0) }) { throw TransportError.unreachable(reason: "cut") }
            return response
        }
    }

    @Test(
        "What a former device has sent is not sent once more, and what it has not is",
        arguments: EncryptionSetting.isOn ? [false, true] : [false])
    func unansweredMessage(isEncrypted: Bool) async throws {
        let home = AccountHome()
        let transport = CutTransport()
        let name = try await AccountHome.register("ann")
        let (accounts, list) = try await home.start(over: transport)
        let ann = try await AccountHome.signIn(name, to: accounts)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        let backend = try await #require(accounts.backend(of: ann))
        let bob = try await MatrixUser.make("bob", sliding: true)
        if EncryptionSetting.isOn {
            _ = try await backend.createIdentity(password: "password")
            for await status in backend.encryptionStatuses() where status.identity == .confirmed { break }
        }
        let room = try await bob.backend.createRoom(RoomRequest(name: "Shed", isEncrypted: false))
        try await bob.waitForRoom(room)
        try await bob.backend.invite(ann, to: room)
        _ = try await backend.join(room.rawValue)
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }
        if isEncrypted {
            try await bob.client.setState(
                "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], of: room)
            while try await !backend.isEncrypted(room) { try await Task.sleep(for: .milliseconds(20)) }
        }
        try await backend.send(WrittenMessage("Twice?"), as: TransactionID("first"), to: room)
        await AccountHome.waitForMessage("Twice?", in: room, backend)

        transport.state.withLock { $0 = .cutsAtNextMessage }
        // The same text as before: the event of that one is not the one in question.
        try await backend.send(WrittenMessage("Twice?"), as: TransactionID("second"), to: room)
        while transport.state.withLock({ $0 != .cut }) { try await Task.sleep(for: .milliseconds(5)) }
        try await backend.send(WrittenMessage("Twice?"), as: TransactionID("third"), to: room)
        try await backend.client.logOut()
        transport.state.withLock { $0 = .whole }
        try await AccountHome.wait(accounts, for: ann) { $0 == .signedOut(isSoft: false) }
        #expect(try await AccountHome.signIn(name, to: accounts, again: ann) == ann)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        try await backend.send(WrittenMessage("Last"), as: TransactionID("last"), to: room)
        await AccountHome.waitForMessage("Last", in: room, backend)
        let messages = try await backend.messages(in: room, before: .max, limit: 50).messages.filter { $0.event == nil }
        let expected = ["Twice?", "Twice?", "Twice?", "Last"]
        #expect(messages.suffix(expected.count + 1).map(\.text) == expected)
        let events = try await bob.client.history(of: room, before: nil, limit: 50).events
        let type = isEncrypted ? "m.room.encrypted" : "m.room.message"
        #expect(events.count { $0.type == type } == expected.count)
        await bob.close()
        await accounts.close()
        await list.close()
    }
}
