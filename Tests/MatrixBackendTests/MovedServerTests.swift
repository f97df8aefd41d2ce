import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

/// Signing in again, also after the server has got another address, and the name of the account.
@Suite(.timeLimit(.minutes(10))) struct MovedServerTests {
    private let folder = TemporaryFolder()

    @Test("An account whose server has moved goes on at the new address, to which no earlier token is sent")
    func movedServer() async throws {
        let transport = FakeTransport.responding { request in
            // The server waits for changes.
            if request.url.path.hasSuffix("/sync") { try await Task.sleep(for: .seconds(3600)) }
        } _: { request in
            guard request.url.path.hasSuffix("/login") else { return nil }
            return [
                "user_id": "@me:example.org", "device_id": "D", "access_token": .string(request.url.host() ?? ""),
            ]
        }
        let list = try await ChatStore.open(in: folder.path("list"))
        let accounts = MatrixAccounts(
            list: list, folders: AccountFolders(root: folder.path("accounts")), keyring: FakeCredentialStore(),
            transport: transport, deviceName: "Test", clock: ManualClock())
        try await accounts.start()
        var backends: [MatrixBackend] = []
        for host in ["old.example.org", "new.example.org"] {
            let server = SignInServer(
                url: try #require(URL(string: "https://\(host)/")), supportsPassword: true, hasWebPage: false)
            let account = try await accounts.signIn(
                to: server, with: .password(name: "me", AccountCredential("password")),
                again: backends.isEmpty ? nil : "@me:example.org")
            try await accounts.storeCredential(of: account.id, in: .memory)
            try await accounts.activate(account.id)
            while !transport.requests.contains(where: { $0.url.host() == host && $0.url.path.hasSuffix("/sync") }) {
                await Task.yield()
            }
            backends.append(try await #require(accounts.backend(of: account.id)))
        }
        #expect(backends[0] === backends[1], "the window shows its rooms")
        #expect(transport.requests.allSatisfy { $0.token == nil || $0.token?.value == $0.url.host() })
        await accounts.close()
        await list.close()
    }

    @Test("An account that signs in again stays under its name if its profile cannot be requested")
    func unreachableProfile() async throws {
        let isReachable = Mutex(true)
        let transport = FakeTransport.responding { request in
            if request.url.path.hasSuffix("/sync") { try await Task.sleep(for: .seconds(3600)) }
        } _: { request in
            if request.url.path.hasSuffix("/login") {
                return ["user_id": "@me:example.org", "device_id": "D", "access_token": "token"]
            }
            guard request.url.path.hasSuffix("/displayname") else { return nil }
            return isReachable.withLock({ $0 }) ? ["displayname": "Ann"] : ["status": 502]
        }
        let list = try await ChatStore.open(in: folder.path("list"))
        let accounts = MatrixAccounts(
            list: list, folders: AccountFolders(root: folder.path("accounts")), keyring: FakeCredentialStore(),
            transport: transport, deviceName: "Test", clock: ManualClock())
        try await accounts.start()
        let url = try #require(URL(string: "https://example.org/"))
        let server = SignInServer(url: url, supportsPassword: true, hasWebPage: false)
        for again in [nil, "@me:example.org"] {
            isReachable.withLock { $0 = again == nil }
            let account = try await accounts.signIn(
                to: server, with: .password(name: "me", AccountCredential("password")), again: again)
            #expect(account.name == "Ann")
            try await accounts.storeCredential(of: account.id, in: .memory)
            try await accounts.activate(account.id)
            #expect(try await list.accounts().map(\.name) == ["Ann"])
        }
        await accounts.close()
        await list.close()
    }

    @Test("A name that could not be requested is requested again when the server is reached again")
    func laterName() async throws {
        let isNamed = Mutex(false)
        let transport = FakeTransport.responding { request in
            if request.url.path.hasSuffix("/sync") { try await Task.sleep(for: .milliseconds(5)) }
        } _: { request in
            if request.url.path.hasSuffix("/login") {
                return ["user_id": "@me:example.org", "device_id": "D", "access_token": "token"]
            }
            if request.url.path.hasSuffix("/sync") { return ["pos": "1"] }
            guard request.url.path.hasSuffix("/displayname") else { return nil }
            return isNamed.withLock({ $0 }) ? ["displayname": "Ann"] : ["status": 502]
        }
        let list = try await ChatStore.open(in: folder.path("list"))
        let accounts = MatrixAccounts(
            list: list, folders: AccountFolders(root: folder.path("accounts")), keyring: FakeCredentialStore(),
            transport: transport, deviceName: "Test", clock: ManualClock())
        try await accounts.start()
        let url = try #require(URL(string: "https://example.org/"))
        let server = SignInServer(url: url, supportsPassword: true, hasWebPage: false)
        let account = try await accounts.signIn(
            to: server, with: .password(name: "me", AccountCredential("password")), again: nil)
        #expect(account.name == account.id)
        try await accounts.storeCredential(of: account.id, in: .memory)
        try await accounts.activate(account.id)
        // By signing in, and once the account is online.
        while transport.requests.count(where: { $0.url.path.hasSuffix("/displayname") }) < 2 {
            try await Task.sleep(for: .milliseconds(5))
        }
        isNamed.withLock { $0 = true }
        let backend = try await #require(accounts.backend(of: account.id))
        while try await list.accounts().first?.name != "Ann" {
            await accounts.reconnect()
            for await connection in backend.connectionStates() where connection == .online { break }
        }
        await accounts.close()
        await list.close()
    }

    @Test(
        "A profile without a display name is not requested again when the server is reached again",
        arguments: [nil, [:], ["displayname": .null]] as [JSONValue?])
    func noName(answer: JSONValue?) async throws {
        let isNamed = Mutex(false)
        let transport = FakeTransport.responding { request in
            if request.url.path.hasSuffix("/sync") { try await Task.sleep(for: .milliseconds(5)) }
        } _: { request in
            if request.url.path.hasSuffix("/login") {
                return ["user_id": "@me:example.org", "device_id": "D", "access_token": "token"]
            }
            if request.url.path.hasSuffix("/sync") { return ["pos": "1"] }
            guard request.url.path.hasSuffix("/displayname") else { return nil }
            return isNamed.withLock({ $0 }) ? ["displayname": "Ann"] : answer
        }
        func requests() -> Int { transport.requests.count { $0.url.path.hasSuffix("/displayname") } }
        let list = try await ChatStore.open(in: folder.path("list"))
        let accounts = MatrixAccounts(
            list: list, folders: AccountFolders(root: folder.path("accounts")), keyring: FakeCredentialStore(),
            transport: transport, deviceName: "Test", clock: ManualClock())
        try await accounts.start()
        let url = try #require(URL(string: "https://example.org/"))
        let server = SignInServer(url: url, supportsPassword: true, hasWebPage: false)
        let account = try await accounts.signIn(
            to: server, with: .password(name: "me", AccountCredential("password")), again: nil)
        try await accounts.storeCredential(of: account.id, in: .memory)
        try await accounts.activate(account.id)
        // By signing in, and once the account is online.
        while requests() < 2 { try await Task.sleep(for: .milliseconds(5)) }
        let backend = try await #require(accounts.backend(of: account.id))
        for _ in 0..<3 {
            await accounts.reconnect()
            for await connection in backend.connectionStates() where connection == .online { break }
        }
        // Another name in a room has the profile requested, after all requests that came before.
        isNamed.withLock { $0 = true }
        backend.writer.ownNames.publish("In a room")
        while try await list.accounts().first?.name != "Ann" { try await Task.sleep(for: .milliseconds(5)) }
        #expect(requests() == 3)
        isNamed.withLock { $0 = false }
        backend.writer.ownNames.publish("Without a name")
        while try await list.accounts().first?.name != account.id { try await Task.sleep(for: .milliseconds(5)) }
        await accounts.close()
        await list.close()
    }
}
