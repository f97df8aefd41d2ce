import ChatCore
import ChatStore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixBackend
import MatrixCrypto
import Ratchets
import ToolSupport

/// The start of an account with 50,000 keys, relative to one with few keys, each in its own process.
struct KeyStartBench {
    let folder: URL

    private static let many = 50_000
    private static let few = 10
    private static let runs = 15
    private static let rooms = 40

    func rows() async throws -> [BenchmarkRow] {
        for count in [Self.few, Self.many] { try await prepare(count) }
        var times: [Int: [Double]] = [:]
        var cpu: [Int: [Double]] = [:]
        for _ in 0..<Self.runs {
            // Alternate, so other load on the machine affects both alike.
            for count in [Self.few, Self.many] {
                let numbers = try start(count)
                times[count, default: []].append(numbers[0])
                cpu[count, default: []].append(numbers[1])
            }
        }
        func median(_ values: [Int: [Double]], _ count: Int) -> Double { values[count]?.median ?? 0 }
        return [Self.few, Self.many].flatMap { count in
            [
                BenchmarkRow(
                    name: "encryption: start with \(count) keys, to the rooms and open keys",
                    value: median(times, count), unit: "ms"),
                BenchmarkRow(
                    name: "encryption: start with \(count) keys, to the rooms and open keys, CPU",
                    value: median(cpu, count), unit: "ms CPU"),
            ]
        } + [
            BenchmarkRow(
                name: "encryption: start with \(Self.many) keys, to that with few",
                value: median(times, Self.many) / median(times, Self.few), unit: "x", target: 1.1),
            BenchmarkRow(
                name: "encryption: start with \(Self.many) keys, to that with few, CPU",
                value: median(cpu, Self.many) / median(cpu, Self.few), unit: "x"),
        ]
    }

    private func place(_ count: Int) -> URL { folder.appending(path: "\(count)") }

    private func prepare(_ count: Int) async throws {
        let server = BenchHomeserver()
        let place = place(count)
        let credentials = FileCredentials(folder: place)
        let account = try await BenchAccount.start(in: place, server, credentials)
        let rooms = (0..<Self.rooms).map { ("!\($0):example.org", BenchEvents.state(isEncrypted: true, members: [])) }
        try server.sync(BenchEvents.sync(0, Dictionary(uniqueKeysWithValues: rooms)))
        try await server.waitUntilConsumed()
        await account.close()
        let keys = try KeyStore(folder: place, isNew: false)
        let user = BenchHomeserver.user
        guard let credential = try await credentials.credential(of: "\(user) keys") else {
            throw SoakFailure("the keys have no key")
        }
        let machine = try await CryptoMachine(
            user: ExactText(user), device: "D", storage: keys, key: KeyMaterial(bytes: Base64.decoded(credential.value))
        )
        let sender = try TestDevice("@ann:example.org", "PEER").account.identityKey
        for first in stride(from: 0, to: count, by: 500) {
            let sessions = try (first..<min(first + 500, count)).map { number in
                let group = try OutboundGroupSession()
                let session = try InboundGroupSession(sessionKey: group.sessionKey)
                return try ExportedSession([
                    "algorithm": "m.megolm.v1.aes-sha2", "room_id": .string("!\(number % Self.rooms):example.org"),
                    "session_id": .string(try group.id), "sender_key": .string("\(sender)"),
                    "session_key": .string(Base64.encoded(try session.exported(at: 0))),
                ])
            }
            _ = try await machine.imported(sessions)
        }
        let stored = try await keys.cryptoRecordCount(.inboundGroupSession)
        try await keys.close()
        guard stored >= count else { throw SoakFailure("encryption, start: \(stored) of \(count) keys are stored") }
    }

    private func start(_ count: Int) throws -> [Double] {
        var child = try ChildProcess(arguments: ["encryption-child", place(count).path])
        defer { _ = child.killAndDrain() }
        guard let line = child.nextLine() else { throw SoakFailure("encryption, start: one ended early") }
        let numbers = line.split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 2 else { throw SoakFailure("a start says \(line)") }
        return numbers
    }

    /// The measured process: prints the elapsed time and the CPU time in milliseconds.
    static func runChild(in folder: String) async throws {
        let start = ContinuousClock.now
        let before = ProcessTime.cpu
        let place = URL(fileURLWithPath: folder, isDirectory: true)
        let account = try await BenchAccount.start(in: place, BenchHomeserver(), FileCredentials(folder: place))
        for await rooms in account.backend.roomSummaries() where !rooms.isEmpty { break }
        let (elapsed, cpu) = ((ContinuousClock.now - start) / .milliseconds(1), ProcessTime.cpu - before)
        for await status in account.backend.encryptionStatuses() where status.condition != .none {
            guard status.condition == .on else {
                throw SoakFailure("encryption, start: the keys did not open: \(status.condition)")
            }
            break
        }
        print(elapsed, cpu * 1000)
        fflush(nil)
    }
}

/// Credentials in files, for successive processes.
private struct FileCredentials: CredentialStore {
    let folder: URL

    private func file(_ account: String) -> URL {
        folder.appending(path: "credential-\(account.replacing("/", with: "_"))")
    }

    func credential(of account: String) async throws -> AccountCredential? {
        // There is no credential before the first is stored.
        guard let data = try? Data(contentsOf: file(account)) else { return nil }
        return AccountCredential(String(decoding: data, as: UTF8.self))
    }

    func store(_ credential: AccountCredential, of account: String) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(credential.value.utf8).write(to: file(account))
    }

    func removeCredential(of account: String) async throws { try FileManager.default.removeItem(at: file(account)) }
}
