import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// The accounts of one application folder over several starts.
final class AccountHome {
    let folder = TemporaryFolder()
    let keyring = FakeCredentialStore()

    func start(
        connects: Bool = true, isRestart: Bool = false, over transport: any MatrixTransport = CurlTransport()
    ) async throws -> (accounts: MatrixAccounts, list: ChatStore) {
        let list = try await ChatStore.open(in: folder.path("parlance"))
        let accounts = MatrixAccounts(
            list: list, folders: AccountFolders(root: folder.path("accounts")), keyring: keyring,
            transport: transport, deviceName: "Test", isRestart: isRestart)
        try await accounts.start(connects: connects)
        return (accounts, list)
    }

    static func register(_ name: String) async throws -> String {
        let unique = "\(name)-\(UUID().uuidString.prefix(8).lowercased())"
        let client = MatrixClient(server: try TestHomeserver.url(), transport: CurlTransport())
        let body: JSONValue = [
            "username": .string(unique), "password": "password", "auth": ["type": "m.login.dummy"],
            "inhibit_login": true,
        ]
        _ = try await client.call(.post, ["client", "v3", "register"], body: body)
        return unique
    }

    static func signIn(
        _ name: String, to accounts: MatrixAccounts, place: CredentialLocation = .keyring, again: String? = nil
    ) async throws -> String {
        let server = try await accounts.server(at: TestHomeserver.url().absoluteString)
        #expect(server.supportsPassword)
        let account = try await accounts.signIn(
            to: server, with: .password(name: name, AccountCredential("password")), again: again)
        try await accounts.storeCredential(of: account.id, in: place)
        try await accounts.activate(account.id)
        return account.id
    }

    /// Waits until a message is displayed that the server has.
    static func waitForMessage(_ text: String, in room: RoomID, _ backend: MatrixBackend) async {
        for await update in backend.timeline(of: room, limit: 50) {
            let messages: [Message] =
                switch update {
                case .opened(let page, _, _): page.messages
                case .changed(let messages): messages
                default: []
                }
            if messages.contains(where: { $0.text == text && $0.delivery == .sent }) { return }
        }
    }

    /// Returns a new room of both users.
    static func room(of bob: MatrixUser, with backend: MatrixBackend, _ user: String) async throws -> RoomID {
        let room = try await bob.backend.createRoom(RoomRequest(name: "Talk", isEncrypted: false))
        try await bob.waitForRoom(room)
        try await bob.backend.invite(user, to: room)
        _ = try await backend.join(room.rawValue)
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }
        return room
    }

    static func wait(
        _ accounts: MatrixAccounts, for account: String, _ condition: @escaping (AccountCondition) -> Bool
    ) async throws {
        for await states in accounts.accountStates() {
            if let state = states.first(where: { $0.id == account }), condition(state.condition) { return }
        }
        throw CancellationError()
    }

    /// The devices whose keys the server has.
    static func publishedDevices(of user: String, _ client: MatrixClient) async throws -> Set<String> {
        let response = try await client.call(
            .post, ["client", "v3", "keys", "query"], body: ["device_keys": .object([user: []])])
        return Set((response["device_keys"]?[user]?.object ?? [:]).keys)
    }

    static func waitForKeys(of device: String, _ user: String, _ client: MatrixClient) async throws {
        while try await !publishedDevices(of: user, client).contains(device) {
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
