import ChatCore
import ChatStore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import ToolSupport

/// Decrypting and encrypting 10,000 messages, with everything that is stored on the disk, relative to the library
/// alone.
struct CipherBench {
    let folder: URL

    private static let rounds = 9
    private static let sessions = 100
    /// Messages per session, and events read at once.
    private static let messages = 100
    private static let room = ExactText(BenchHomeserver.room)
    private static let sender: ExactText = "@ann:example.org"

    private struct Session {
        let id: String
        let key: [UInt8]
        let ciphertexts: [String]
        let events: [SealedEvent]
    }

    func rows() async throws -> [BenchmarkRow] {
        let sessions = try Self.makeSessions()
        // Before the clock: the library alone makes no JSON.
        let payloads = try (0..<Self.sessions * Self.messages).map { try Self.payload($0) }
        var costs: [Work: [Double]] = [:]
        var elapsed: [Double] = []
        // Alternate, so other load on the machine affects all of them alike.
        for round in 0..<Self.rounds {
            costs[.readingAlone, default: []].append(try await ProcessTime.of { try Self.readAlone(sessions) })
            costs[.writingAlone, default: []].append(try await ProcessTime.of { try Self.writeAlone(payloads) })
            costs[.pickling, default: []].append(
                try await ProcessTime.of { try Self.writeAlone(payloads, picklingWith: KeyMaterial()) })
            costs[.writing, default: []].append(try await write(in: MemoryCryptoStorage()).cpu)
            let store = try keyStore(round)
            costs[.reading, default: []].append(try await read(sessions, in: store))
            let written = try await write(in: store)
            costs[.writingToDisk, default: []].append(written.cpu)
            elapsed.append(written.elapsed)
            try await store.close()
        }
        func cost(_ work: Work) -> Double { costs[work]?.median ?? 0 }
        let count = Self.sessions * Self.messages
        return Work.allCases.map {
            BenchmarkRow(name: "encryption: \($0.rawValue), \(count) messages", value: cost($0), unit: "s CPU")
        } + [
            BenchmarkRow(
                name: "encryption: \(Work.writingToDisk.rawValue), \(count) messages", value: elapsed.median, unit: "s"),
            BenchmarkRow(
                name: "encryption: reading, to the library", value: cost(.reading) / cost(.readingAlone), unit: "x",
                target: 1.5),
            BenchmarkRow(
                name: "encryption: writing, to the library", value: cost(.writing) / cost(.writingAlone), unit: "x",
                target: 1.5),
            BenchmarkRow(
                name: "encryption: writing with what is kept on the disk, to the library",
                value: cost(.writingToDisk) / cost(.writingAlone), unit: "x", target: 1.5),
            BenchmarkRow(
                name: "encryption: writing, to the library with a pickle for each message",
                value: cost(.writing) / cost(.pickling), unit: "x"),
        ]
    }

    private enum Work: String, CaseIterable {
        case readingAlone = "the library reads"
        case reading = "reading, each noted on the disk"
        case writingAlone = "the library writes"
        case pickling = "the library writes and pickles each time"
        case writing = "writing"
        case writingToDisk = "writing, each kept on the disk before it leaves"
    }

    // MARK: The library

    private static func payload(_ number: Int) throws -> [UInt8] {
        try CanonicalJSON.bytes(of: [
            "type": "m.room.message", "room_id": .string(room.text),
            "content": ["msgtype": "m.text", "body": .string("Message \(number) of many, none of which says much")],
        ])
    }

    private static func makeSessions() throws -> [Session] {
        try (0..<sessions).map { number in
            let group = try OutboundGroupSession()
            let (id, key) = (try group.id, try group.sessionKey)
            let ciphertexts = try (0..<messages).map {
                Base64.encoded(try group.encrypt(payload(number * messages + $0)))
            }
            let events = ciphertexts.enumerated().map { index, ciphertext in
                SealedEvent(
                    room: room, event: ExactText("$\(number)-\(index)"), sender: sender,
                    content: [
                        "algorithm": "m.megolm.v1.aes-sha2", "session_id": .string(id), "device_id": "PEER",
                        "sender_key": "x", "ciphertext": .string(ciphertext),
                    ])
            }
            return Session(id: id, key: key, ciphertexts: ciphertexts, events: events)
        }
    }

    /// Ciphertexts are base64, as `from_base64` and `to_base64` of vodozemac have them.
    private static func readAlone(_ sessions: [Session]) throws {
        for session in sessions {
            let reader = try InboundGroupSession(sessionKey: session.key)
            for ciphertext in session.ciphertexts { _ = try reader.decrypt(Base64.decoded(ciphertext)) }
        }
    }

    /// - Parameter key: Pickles the session before each message is sent, as any client that stores it must.
    private static func writeAlone(_ payloads: [[UInt8]], picklingWith key: KeyMaterial? = nil) throws {
        let group = try OutboundGroupSession()
        for payload in payloads {
            _ = Base64.encoded(try group.encrypt(payload))
            if let key { _ = try group.pickle(key: key) }
        }
    }

    // MARK: Ours

    private func keyStore(_ round: Int) throws -> KeyStore {
        let place = folder.appending(path: "\(round)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return try KeyStore(folder: place, isNew: true)
    }

    private func machine(in storage: any CryptoStorage) async throws -> CryptoMachine {
        try await CryptoMachine.begun(
            user: ExactText(BenchHomeserver.user), device: "D", in: storage, key: KeyMaterial(), at: Date())
    }

    private func read(_ sessions: [Session], in storage: any CryptoStorage) async throws -> Double {
        let machine = try await machine(in: storage)
        try await receive(sessions, in: machine)
        var readings: [CryptoMachine.Reading] = []
        let cost = try await ProcessTime.of {
            for session in sessions { readings += try await machine.read(session.events) }
        }
        guard readings.count == Self.sessions * Self.messages, readings.allSatisfy(Self.isTrusted) else {
            throw SoakFailure("not all messages were read: \(readings.first { !Self.isTrusted($0) } as Any)")
        }
        return cost
    }

    /// Whether a message was read as one of a confirmed device. One of an imported session never is, and costs less, as
    /// its sender's devices are not looked up.
    private static func isTrusted(_ reading: CryptoMachine.Reading) -> Bool {
        guard case .success(let payload) = reading else { return false }
        return payload.source == .direct && payload.trust == nil
    }

    /// Makes the machine know the sender's device and the identity that confirms it, and receive the sessions from that
    /// device through Olm.
    private func receive(_ sessions: [Session], in machine: CryptoMachine) async throws {
        let (device, now) = (try TestDevice(Self.sender, "PEER"), Date())
        var sync = CryptoSync(kind: .sliding)
        sync.keyCounts = ["signed_curve25519": 0]
        sync.unusedFallbackKeys = []
        _ = try await machine.received(sync, at: now)
        try await machine.track([device.user])
        var known = try TestIdentity.answer(of: [device])
        known["device_keys"] = .object([device.user.text: .object([device.device.text: try device.json()])])
        var (target, oneTimeKey): (JSONValue?, String?) = (nil, nil)
        while let request = try await machine.nextRequest(at: now) {
            var answer: JSONValue = [:]
            if case .query = request.action { answer = .object(known) }
            if case .upload(let body) = request.action {
                let upload = try JSONValue(parsing: Data(body))
                target = upload["device_keys"] ?? target
                oneTimeKey = upload["one_time_keys"]?.object?.values.first?["key"]?.string ?? oneTimeKey
            }
            try await machine.answered(request, with: answer, at: now)
        }
        guard let target, let oneTimeKey else { throw SoakFailure("no keys were uploaded") }
        let writer = try BenchWriter(device, to: target, oneTimeKey: oneTimeKey)
        var keys = CryptoSync(kind: .sliding)
        keys.events = try sessions.map { try writer.key($0.key, of: $0.id) }
        let receipt = try await machine.received(keys, at: now)
        guard receipt.sessions.count == sessions.count else {
            throw SoakFailure("not all keys were received: \(receipt.rejected)")
        }
    }

    /// - Returns: CPU time and elapsed time.
    private func write(in storage: any CryptoStorage) async throws -> (cpu: Double, elapsed: Double) {
        let machine = try await machine(in: storage)
        let (room, now, user) = (Self.room, Date(), ExactText(BenchHomeserver.user))
        let count = Int64(Self.sessions * Self.messages)
        try await EncryptedRoom.note(
            [
                (
                    room: room,
                    content: ["algorithm": "m.megolm.v1.aes-sha2", "rotation_period_msgs": .integer(count)]
                )
            ], in: storage, at: now)
        // The first message triggers the request for members and the upload of the device.
        func seal(_ number: Int) async throws -> CryptoMachine.Sealing {
            try await machine.seal(
                "m.room.message",
                ["msgtype": "m.text", "body": .string("Message \(number) of many, none of which says much")], in: room,
                at: now)
        }
        for _ in 0..<10 {
            switch try await seal(0) {
            case .needsMembers(let version):
                _ = try await machine.setMembers([user: "join"], visibility: nil, of: room, since: version)
            case .sealed, .waits, .refused: break
            }
            while let request = try await machine.nextRequest(at: now) {
                try await machine.answered(request, with: ["device_keys": [user.text: [:]]], at: now)
            }
        }
        let start = ContinuousClock.now
        let cpu = try await ProcessTime.of {
            for number in 1..<Int(count) {
                guard case .sealed = try await seal(number) else { throw SoakFailure("a message was not encrypted") }
            }
        }
        return (cpu, (ContinuousClock.now - start) / .seconds(1))
    }
}
