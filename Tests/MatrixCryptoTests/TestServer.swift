import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing

/// An in-memory server whose devices are machines: keys, signatures and to-device messages.
final class TestServer {
    /// A device that is signed in to the server.
    struct Client {
        let machine: CryptoMachine
        let storage: FakeCryptoStorage
        let key: KeyMaterial

        var id: DeviceID { DeviceID(user: machine.user, device: machine.device) }
    }

    struct Mismatch: Error {}

    var now = Date(timeIntervalSince1970: 1_700_000_000)
    private(set) var clients: [Client] = []
    private var devices: [ExactText: [ExactText: [String: JSONValue]]] = [:]
    private var oneTimeKeys: [DeviceID: [String: JSONValue]] = [:]
    private var inboxes: [DeviceID: [JSONValue]] = [:]
    /// By user, then by the member of a `keys/query` response.
    private var identities: [ExactText: [String: [String: JSONValue]]] = [:]
    private var changed: [DeviceID: Set<ExactText>] = [:]
    /// Modifies or drops to-device messages in transit.
    var intercept: (_ sender: DeviceID, _ type: String, _ content: JSONValue) -> JSONValue? = { $2 }
    private(set) var sent: [(type: String, reader: DeviceID)] = []
    /// The failure that an upload of a signature yields, by user and key ID; `nil` if the signature is stored.
    var signatureFailure: (_ user: ExactText, _ key: ExactText) -> JSONValue? = { _, _ in nil }
    private(set) var signatureUploads = 0
    /// The users of each query.
    private(set) var queries: [[ExactText]] = []
    /// The users in `left` of each sync response.
    var left: [ExactText] = []

    func signIn(_ user: ExactText, _ device: ExactText) async throws -> Client {
        let (storage, key) = (FakeCryptoStorage(), try KeyMaterial())
        let machine = try await CryptoMachine.begun(user: user, device: device, in: storage, key: key, at: now)
        let client = Client(machine: machine, storage: storage, key: key)
        clients.append(client)
        try await exchangeAll()
        return client
    }

    /// Restarts a device with its stored state.
    func restart(_ client: Client) async throws -> Client {
        let machine = try await CryptoMachine(
            user: client.id.user, device: client.id.device, storage: client.storage, key: client.key)
        let again = Client(machine: machine, storage: client.storage, key: client.key)
        clients = clients.map { $0.id == client.id ? again : $0 }
        return again
    }

    /// Signs a device in, and creates its user's identity on it.
    func confirmed(_ user: ExactText, _ device: ExactText) async throws -> Client {
        let client = try await signIn(user, device)
        try await makeIdentity(on: client)
        return client
    }

    /// Creates the identity of a user on a device.
    func makeIdentity(on client: Client) async throws {
        let staged = try await client.machine.stageIdentity()
        try publishIdentity(staged.upload, of: client.machine.user)
        try await client.machine.commitIdentity()
        try await exchangeAll()
    }

    func publishIdentity(_ body: JSONValue, of user: ExactText) throws {
        for (name, member) in [
            ("master_key", "master_keys"), ("self_signing_key", "self_signing_keys"),
            ("user_signing_key", "user_signing_keys"),
        ] { identities[user, default: [:]][member] = try #require(body[name]?.object) }
        noteChange(of: user)
    }

    /// Adds an identity's signature to a device, as a server can with an identity that it has made up.
    func confirm(_ device: DeviceID, by identity: TestIdentity) throws {
        let keys = try #require(devices[device.user]?[device.device])
        devices[device.user]?[device.device] = try identity.confirming(keys)
        noteChange(of: device.user)
    }

    private func noteChange(of user: ExactText) {
        for client in clients { changed[client.id, default: []].insert(user) }
    }

    /// Delivers messages and answers requests until there are no more.
    func exchangeAll() async throws {
        for _ in 0..<30 {
            var isQuiet = true
            for client in clients {
                var sync = CryptoSync(kind: .sliding)
                sync.events = inboxes.removeValue(forKey: client.id) ?? []
                sync.changed = Array(changed.removeValue(forKey: client.id) ?? [])
                sync.left = left
                sync.keyCounts = ["signed_curve25519": .integer(Int64(oneTimeKeys[client.id]?.count ?? 0))]
                if !sync.events.isEmpty || !sync.changed.isEmpty { isQuiet = false }
                _ = try await client.machine.received(sync, at: now)
                while let request = try await client.machine.nextRequest(at: now) {
                    isQuiet = false
                    let answer = try answer(request.action, from: client)
                    try await client.machine.answered(request, with: answer, at: now)
                }
            }
            if isQuiet { return }
        }
        Issue.record("The devices talk without an end.")
    }

    private func answer(_ action: CryptoRequest.Action, from client: Client) throws -> JSONValue {
        switch action {
        case .upload(let body):
            let upload = try JSONValue(parsing: Data(body))
            if let keys = upload["device_keys"]?.object {
                devices[client.id.user, default: [:]][client.id.device] = keys
                noteChange(of: client.id.user)
            }
            oneTimeKeys[client.id, default: [:]].merge(upload["one_time_keys"]?.object ?? [:]) { $1 }
            return ["one_time_key_counts": ["signed_curve25519": .integer(Int64(oneTimeKeys[client.id]?.count ?? 0))]]
        case .query(let query):
            queries.append(query.users)
            return answer(to: query.users, from: client.id.user)
        case .claim(let claims):
            var users: [String: [String: JSONValue]] = [:]
            for claim in claims {
                let id = DeviceID(user: claim.user, device: claim.device)
                guard let (name, key) = oneTimeKeys[id]?.first else { continue }
                oneTimeKeys[id]?[name] = nil
                users[claim.user.text, default: [:]][claim.device.text] = .object([name: key])
            }
            return ["one_time_keys": .object(users.mapValues { .object($0) })]
        case .send(let message):
            let content = try JSONValue(parsing: message.content)
            deliver(message.type, content, from: client.id, to: ExactText(message.user), ExactText(message.device))
            return [:]
        case .sendAll(let batch):
            for (user, contents) in try JSONValue(parsing: batch.messages).object ?? [:] {
                for (device, content) in contents.object ?? [:] {
                    deliver(batch.type, content, from: client.id, to: ExactText(user), ExactText(device))
                }
            }
            return [:]
        case .uploadSignatures(let body):
            signatureUploads += 1
            var failures: [String: [String: JSONValue]] = [:]
            for (user, objects) in try JSONValue(parsing: body).object ?? [:] {
                for (id, object) in objects.object ?? [:] {
                    if let failure = signatureFailure(ExactText(user), ExactText(id)) {
                        failures[user, default: [:]][id] = failure
                    } else {
                        try sign(object.object ?? [:], ExactText(id), of: ExactText(user))
                    }
                }
            }
            return ["failures": .object(failures.mapValues { .object($0) })]
        }
    }

    private func answer(to users: [ExactText], from asking: ExactText) -> JSONValue {
        var members: [String: [String: JSONValue]] = ["device_keys": [:]]
        for user in users {
            let known = devices[user] ?? [:]
            members["device_keys"]?[user.text] = .object(
                Dictionary(known.map { ($0.key.text, .object($0.value)) }) { $1 })
            for (member, object) in identities[user] ?? [:] where member != "user_signing_keys" || user == asking {
                members[member, default: [:]][user.text] = .object(object)
            }
        }
        return .object(members.mapValues { .object($0) })
    }

    /// Delivers a to-device message from any sender.
    func deliver(
        _ type: String, _ content: JSONValue, from sender: DeviceID, to user: ExactText, _ device: ExactText
    ) {
        let reader = DeviceID(user: user, device: device)
        sent.append((type, reader))
        guard let content = intercept(sender, type, content) else { return }
        inboxes[reader, default: []].append(
            ["type": .string(type), "sender": .string(sender.user.text), "content": content])
    }

    /// Accepts signatures for objects that the server has, and rejects all others.
    private func sign(_ object: [String: JSONValue], _ id: ExactText, of user: ExactText) throws {
        func merged(_ known: [String: JSONValue]) throws -> [String: JSONValue] {
            guard try SignedJSON.signedBytes(of: known) == SignedJSON.signedBytes(of: object) else { throw Mismatch() }
            var known = known
            var signatures = known["signatures"]?.object ?? [:]
            for (signer, added) in object["signatures"]?.object ?? [:] {
                signatures[signer] = .object((signatures[signer]?.object ?? [:]).merging(added.object ?? [:]) { $1 })
            }
            known["signatures"] = .object(signatures)
            return known
        }
        if let device = devices[user]?[id] {
            devices[user]?[id] = try merged(device)
        } else {
            let master = try #require(identities[user]?["master_keys"])
            #expect(master["keys"]?.object?["ed25519:\(id)"] != nil)
            identities[user]?["master_keys"] = try merged(master)
        }
        noteChange(of: user)
    }
}
