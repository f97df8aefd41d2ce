import ChatCore
import ChatTestSupport
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct KeyRequestsTests {
    private final class Paths: Sendable {
        private let paths = Mutex<[String]>([])
        var values: [String] { paths.withLock { $0 } }
        /// - Returns: The number of paths, with this one.
        func add(_ path: String) -> Int {
            paths.withLock {
                $0.append(path)
                return $0.count
            }
        }
    }

    private static let room: ExactText = "!r:example.org"

    @Test("A message whose answer is a proxy's page is sent again, with the same transaction.") func unusableAnswer()
        async throws
    {
        let (storage, clock, sent) = (MemoryCryptoStorage(), ManualClock(), Paths())
        let machine = try await CryptoMachine.begun(
            user: "@me:example.org", device: "D", in: storage, key: KeyMaterial(), at: Fixtures.date)
        // Gets no key, but a notice why.
        var ann = try TestDevice("@ann:example.org", "ANN")
        ann.isConfirmed = false
        let devices: JSONValue = ["device_keys": ["@ann:example.org": ["ANN": try ann.json()]]]
        let list = try devices.encoded()
        let transport = FakeTransport { request in
            let path = request.url.path
            if path.hasSuffix("/keys/query") { return MatrixResponse(status: 200, body: list) }
            guard path.contains("/sendToDevice/") else { return MatrixResponse(status: 200, body: Data("{}".utf8)) }
            let body = sent.add(path) < 3 ? "<html></html>" : "{}"
            return MatrixResponse(status: 200, body: Data(body.utf8))
        }
        let requests = KeyRequests(
            machine: machine, client: transport.client, clock: clock, now: { Fixtures.date }, didAnswer: {})
        try await EncryptedRoom.note(
            [(Self.room, ["algorithm": "m.megolm.v1.aes-sha2"])], in: storage, at: Fixtures.date)
        let isSealed = try await isSealed(by: machine) { _ = await requests.makeAllRequests() }
        #expect(isSealed)
        await requests.wake()
        while sent.values.count < 3 {
            clock.advance(by: .seconds(61))
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(Set(sent.values).count == 1)
        await requests.stop()
    }

    /// Whether a message for Ann is encrypted at last.
    /// - Parameter makeRequests: Called whenever the message waits for requests.
    private func isSealed(by machine: CryptoMachine, _ makeRequests: () async -> Void) async throws -> Bool {
        for _ in 0..<12 {
            switch try await machine.seal("m.room.message", ["body": "x"], in: Self.room, at: Fixtures.date) {
            case .sealed: return true
            case .needsMembers(let version):
                let members: [ExactText: String] = ["@me:example.org": "join", "@ann:example.org": "join"]
                _ = try await machine.setMembers(members, visibility: "joined", of: Self.room, since: version)
            case .waits: await makeRequests()
            case .refused(let rejection): throw rejection
            }
        }
        return false
    }

    @Test("Claims of several devices that the server rejects hold a message up no longer than that of one.")
    func rejectedClaims() async throws {
        let storage = MemoryCryptoStorage()
        let machine = try await CryptoMachine.begun(
            user: "@me:example.org", device: "D", in: storage, key: KeyMaterial(), at: Fixtures.date)
        let devices = try (1...8).map { try TestDevice("@ann:example.org", ExactText("ANN\($0)")) }
        let keys = try devices.map { ($0.device.text, try $0.json()) }
        var answer = try TestIdentity.answer(of: devices)
        answer["device_keys"] = ["@ann:example.org": .object(Dictionary(uniqueKeysWithValues: keys))]
        let list = try JSONValue.object(answer).encoded()
        let transport = FakeTransport { request in
            let path = request.url.path
            if path.hasSuffix("/keys/query") { return MatrixResponse(status: 200, body: list) }
            let isClaim = path.hasSuffix("/keys/claim")
            let body = isClaim ? #"{"errcode":"M_INVALID_PARAM"}"# : "{}"
            return MatrixResponse(status: isClaim ? 400 : 200, body: Data(body.utf8))
        }
        let requests = keyRequests(machine, transport)
        try await EncryptedRoom.note(
            [(Self.room, ["algorithm": "m.megolm.v1.aes-sha2"])], in: storage, at: Fixtures.date)
        func claims() -> Int { transport.requests.count { $0.url.path.hasSuffix("/keys/claim") } }
        var rounds = 0
        let isSealed = try await isSealed(by: machine) {
            let before = claims()
            // The clock stands still.
            _ = await requests.makeAllRequests()
            if claims() > before { rounds += 1 }
        }
        #expect(isSealed)
        // One for all of them, then halves down to each alone.
        #expect(rounds == 1 && claims() == 1 + 2 + 4 + 8)
        await requests.stop()
    }

    private func keyRequests(
        _ machine: CryptoMachine, _ transport: FakeTransport, clock: ManualClock = ManualClock()
    ) -> KeyRequests {
        KeyRequests(machine: machine, client: transport.client, clock: clock, now: { Fixtures.date }, didAnswer: {})
    }

    private func begunMachine() async throws -> CryptoMachine {
        try await CryptoMachine.begun(
            user: "@me:example.org", device: "D", in: MemoryCryptoStorage(), key: KeyMaterial(), at: Fixtures.date)
    }

    @Test("A request that the server rejects for now, because of the account, is repeated as it was.")
    func blockedAccount() async throws {
        let (machine, bodies) = (try await begunMachine(), Paths())
        var sync = CryptoSync(kind: .plain)
        sync.keyCounts = ["signed_curve25519": 0]
        _ = try await machine.received(sync, at: Fixtures.date)
        let transport = FakeTransport { request in
            guard request.url.path.hasSuffix("/keys/upload"), case .json(let data) = request.body else {
                return MatrixResponse(status: 200, body: Data(#"{"device_keys":{}}"#.utf8))
            }
            let isFirst = bodies.add(String(decoding: data, as: UTF8.self)) == 1
            let body = isFirst ? #"{"errcode":"M_RESOURCE_LIMIT_EXCEEDED"}"# : "{}"
            return MatrixResponse(status: isFirst ? 400 : 200, body: Data(body.utf8))
        }
        let requests = keyRequests(machine, transport)
        #expect(await !requests.makeAllRequests())
        #expect(await requests.makeAllRequests())
        #expect(bodies.values.count == 2 && Set(bodies.values).count == 1)
        await requests.stop()
    }

    @Test("An endpoint that fails holds up no other, and is called again after a delay", arguments: [403, 429, 500])
    func failingEndpoint(_ status: Int) async throws {
        let (clock, machine) = (ManualClock(), try await begunMachine())
        let transport = FakeTransport { request in
            let fails = request.url.path.hasSuffix("/keys/upload")
            let body = fails ? #"{"errcode":"M_FORBIDDEN"}"# : #"{"device_keys":{}}"#
            return MatrixResponse(status: fails ? status : 200, body: Data(body.utf8))
        }
        let requests = keyRequests(machine, transport, clock: clock)
        func count(_ suffix: String) -> Int { transport.requests.count { $0.url.path.hasSuffix(suffix) } }
        #expect(await !requests.makeAllRequests())
        #expect(count("/keys/query") == 1 && count("/keys/upload") == 1)
        try await machine.track(["@ann:example.org"])
        #expect(await !requests.makeAllRequests())
        // A wait that the server demands is not skipped.
        let uploads = status == 429 ? 1 : 2
        #expect(count("/keys/query") == 2 && count("/keys/upload") == uploads)
        try await machine.track(["@bob:example.org"])
        await requests.wake()
        while count("/keys/query") < 3 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(count("/keys/upload") == uploads)
        while count("/keys/upload") == uploads {
            clock.advance(by: .seconds(61))
            try await Task.sleep(for: .milliseconds(5))
        }
        await requests.stop()
    }

    @Test("Without a response, no other request is tried") func noResponse() async throws {
        let machine = try await begunMachine()
        let transport = FakeTransport { request in
            guard request.url.path.hasSuffix("/keys/query") else { throw TransportError.unreachable(reason: "") }
            return MatrixResponse(status: 200, body: Data(#"{"device_keys":{}}"#.utf8))
        }
        let requests = keyRequests(machine, transport)
        try await machine.track(["@ann:example.org"])
        #expect(await !requests.makeAllRequests())
        try await machine.track(["@bob:example.org"])
        #expect(await !requests.makeAllRequests())
        let paths = transport.requests.map(\.url.lastPathComponent)
        #expect(paths == ["query", "upload", "upload"])
        await requests.stop()
    }

    @Test("A query that fails because of one user is repeated at once in smaller ones", arguments: [true, false])
    func rejectedQuery(isTooLarge: Bool) async throws {
        let machine = try await begunMachine()
        let big = "@big:example.org"
        let transport = FakeTransport { request in
            guard request.json?["device_keys"]?[big] != nil else {
                return MatrixResponse(status: 200, body: Data(#"{"device_keys":{}}"#.utf8))
            }
            if isTooLarge { throw TransportError.tooLarge(limit: MatrixLimits.responseBytes) }
            return MatrixResponse(status: 400, body: Data(#"{"errcode":"M_INVALID_PARAM"}"#.utf8))
        }
        let requests = keyRequests(machine, transport)
        func queries() -> [[String]] {
            let queries = transport.requests.filter { $0.url.path.hasSuffix("/keys/query") }
            return queries.compactMap { $0.json?["device_keys"]?.object?.keys.sorted() }
        }
        try await machine.track((0..<99).map { ExactText("@u\($0):example.org") } + [ExactText(big)])
        // The clock stands still.
        #expect(await !requests.makeAllRequests())
        #expect(queries().count <= 16 && queries().count { $0 == [big] } == 1)
        #expect(transport.requests.count { $0.url.path.hasSuffix("/keys/upload") } == 1)
        try await machine.track(["@new:example.org"])
        #expect(await requests.makeAllRequests())
        #expect(queries().last == ["@new:example.org"])
        await requests.stop()
    }

    @Test("A caller learns why the kinds of requests have failed that it needs, and of no others.")
    func neededKinds() async throws {
        let machine = try await begunMachine()
        let (own, unlisted): (ExactText, ExactText) = ("@me:example.org", "@big:example.org")
        let transport = FakeTransport { request in
            let isRejected = request.json?["device_keys"]?[unlisted.text] != nil
            let fails = request.url.path.hasSuffix("/keys/upload") || isRejected
            let body = fails ? #"{"errcode":"M_FORBIDDEN"}"# : #"{"device_keys":{}}"#
            return MatrixResponse(status: isRejected ? 400 : fails ? 403 : 200, body: Data(body.utf8))
        }
        let requests = keyRequests(machine, transport)
        let forbidden = MatrixError.rejected(status: 403, code: "M_FORBIDDEN", reason: "")
        try await requests.makeRequests([.query], about: own)
        await #expect(throws: forbidden) { try await requests.makeRequests([.upload, .query], about: own) }
        #expect(await !requests.makeAllRequests())
        // That the list of one user is rejected concerns no other.
        try await machine.track([unlisted, "@ann:example.org"])
        try await requests.makeRequests([.query], about: "@ann:example.org")
        await #expect(throws: MatrixError.self) { try await requests.makeRequests([.query], about: unlisted) }
        await requests.stop()
        await #expect(throws: MatrixError.self) { try await requests.makeRequests([.query], about: own) }
    }

    /// Who is told observes the keys anew, which makes the requests again.
    @Test("Only a failure that the next attempt may mend is told", arguments: [401, 502])
    func failures(_ status: Int) async throws {
        let machine = try await CryptoMachine.begun(
            user: "@me:example.org", device: "D", in: MemoryCryptoStorage(), key: KeyMaterial(), at: Fixtures.date)
        let told = Paths()
        let transport = FakeTransport(status, #"{"errcode":"M_UNKNOWN_TOKEN"}"#)
        let requests = KeyRequests(
            machine: machine, client: transport.client, clock: ManualClock(), now: { Fixtures.date },
            didAnswer: { _ = told.add("") })
        #expect(await !requests.makeAllRequests())
        #expect(told.values.isEmpty == (status == 401))
        await requests.stop()
    }
}
