import ChatCore
import ChatStore
import Composer
import Foundation
import MatrixBackend
import ToolSupport

/// An account with its keys in a folder, without a window.
struct KeyUser {
    /// The factor by which the delays of outbox and sync are shortened.
    private static let haste = 20

    let store: ChatStore
    let backend: MatrixBackend

    /// - Parameter uploadsBackup: Whether it uploads keys to the backup, or only believes that it does.
    init(
        _ session: MatrixSession, url: URL, isSliding: Bool, folder: URL, death: DyingTransport.Death? = nil,
        uploadsBackup: Bool = true, report: @escaping @Sendable (SealedIndex) -> Void
    ) async throws {
        var transport: any MatrixTransport = DyingTransport(death: death, report: report)
        if !uploadsBackup { transport = NoBackupTransport(transport: transport) }
        store = try await ChatStore.open(in: folder.appendingPathComponent("store", isDirectory: true))
        backend = try await MatrixBackend.start(
            over: store, server: url, ownUserID: session.user, token: nil, hasSlidingSync: isSliding,
            transport: transport, clock: FastClock(factor: Self.haste))
        await backend.openKeys(of: session.device, from: FileCredential(folder: folder))
        try await status { $0.condition == .on }
        await backend.resume(with: session.token)
    }

    func close() async {
        await backend.close()
        await store.close()
    }

    @discardableResult
    func status(where condition: (EncryptionStatus) -> Bool) async throws -> EncryptionStatus {
        for await status in backend.encryptionStatuses() {
            if condition(status) { return status }
            if case .off(let problem) = status.condition { throw SoakFailure("the keys are gone: \(problem)") }
        }
        throw SoakFailure("closed")
    }

    func untilRoom(_ room: RoomID) async {
        for await summaries in backend.roomSummaries() where summaries.contains(where: { $0.id == room }) { return }
    }

    func say(_ text: String, in room: RoomID) async throws {
        try await queue(text, in: room)
        try await sent(text, in: room)
    }

    func queue(_ text: String, in room: RoomID) async throws {
        await untilRoom(room)
        _ = try await backend.send(WrittenMessage(WrittenText(text)), as: TransactionID(text), to: room)
    }

    /// Waits until the sync has returned a queued message.
    func sent(_ text: String, in room: RoomID) async throws {
        for await update in backend.timeline(of: room, limit: 50) {
            if case .closed = update { throw SoakFailure("the room is gone") }
            if try await store.message(of: TransactionID(text), in: room) != nil { return }
        }
    }

    /// The text of a message, or why it is sealed.
    enum Reading: Sendable, Equatable {
        case text(String)
        case sealed(String)

        var text: String? { if case .text(let text) = self { text } else { nil } }
        var isText: Bool { text != nil }
    }

    /// All messages of a room.
    func readings(in room: RoomID) async throws -> [String: Reading] {
        var readings: [String: Reading] = [:]
        var position = Int64.max
        while true {
            let page = try await backend.messages(in: room, before: position, limit: 200)
            for message in page.messages where message.kind != .event {
                readings[message.id.rawValue] = message.seal.map { .sealed($0.rawValue) } ?? .text(message.text)
            }
            guard page.hasOlder, let first = page.messages.first else { return readings }
            position = first.position
        }
    }

    /// Returns the texts that are not among a room's newest messages, once none is missing or the time is up.
    func missing(_ texts: Set<String>, in room: RoomID) async throws -> Set<String> {
        await untilRoom(room)
        let end = ContinuousClock.now + .seconds(20)
        while true {
            let page = try await backend.messages(in: room, before: .max, limit: 50)
            let missing = texts.subtracting(page.messages.filter { $0.seal == nil }.map(\.text))
            if missing.isEmpty || ContinuousClock.now > end { return missing }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// All messages of a room, once these are readable or the time is up: device lists may still be queried.
    func readings(in room: RoomID, of events: Set<String>) async throws -> [String: Reading] {
        let end = ContinuousClock.now + .seconds(20)
        while true {
            let readings = try await readings(in: room)
            if events.allSatisfy({ readings[$0]?.isText == true }) || ContinuousClock.now > end { return readings }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}

/// The credential that encrypts the keys, in a file beside them.
private actor FileCredential: CredentialStore {
    private let folder: URL

    init(folder: URL) { self.folder = folder }

    private func file(_ account: String) -> URL {
        folder.appendingPathComponent(account.filter { $0.isLetter || $0.isNumber })
    }

    func credential(of account: String) throws -> AccountCredential? {
        let file = file(account)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        do {
            return AccountCredential(try String(contentsOf: file, encoding: .utf8))
        } catch {
            throw CredentialStoreError.unavailable(reason: "\(error)")
        }
    }

    func store(_ credential: AccountCredential, of account: String) throws {
        do {
            try Data(credential.value.utf8).write(to: file(account), options: .atomic)
        } catch {
            throw CredentialStoreError.unavailable(reason: "\(error)")
        }
    }

    // The run removes the folder with everything in it.
    func removeCredential(of account: String) { try? FileManager.default.removeItem(at: file(account)) }
}
