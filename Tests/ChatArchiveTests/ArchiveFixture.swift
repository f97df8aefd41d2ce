import ChatArchive
import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import LocalBackend
import Synchronization

extension RoomArchive {
    /// Imports an export that was never imported before.
    func importConversations(
        from url: URL, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> ImportReport {
        try await importConversations(
            from: url, resolveRepeats: { _ in throw ChatError.notPermitted }, progress: progress)
    }
}

/// An archive over a store and backend of its own.
struct ArchiveFixture {
    let folder = TemporaryFolder()
    let store: ChatStore
    let backend: LocalBackend
    let archive: RoomArchive

    static let zone = TimeZone(secondsFromGMT: 3600)!

    init() async throws {
        store = try await ChatStore.open(in: folder.path("store"))
        backend = try await LocalBackend.start(
            over: store, ownDisplayName: "Robin", clock: ManualClock(), now: { Fixtures.date })
        archive = RoomArchive(
            source: backend, destination: backend, zone: Self.zone, now: { Fixtures.date },
            emoji: { ["wave": "👋", "+1": "👍"][$0] })
    }

    static func export(_ name: String) throws -> URL {
        guard let url = Bundle.module.url(forResource: "Exports", withExtension: nil) else { throw ChatError.notFound }
        return url.appending(path: name)
    }

    func importFile(_ name: String) async throws -> ImportReport {
        try await archive.importConversations(from: Self.export(name)) { _ in }
    }

    /// Imports, and answers the question about earlier imports if it comes up.
    /// - Returns: the report, and the earlier imports that the question listed.
    func importFile(
        _ url: URL, answering answer: @escaping @Sendable ([EarlierImport]) async throws -> RepeatedImport
    ) async throws -> (report: ImportReport, asked: [EarlierImport]) {
        let asked = Mutex<[EarlierImport]>([])
        let report = try await archive.importConversations(from: url) { known in
            asked.withLock { $0 += known }
            return try await answer(known)
        } progress: { _ in
        }
        return (report, asked.withLock { $0 })
    }

    /// All messages, oldest first.
    func messages(in room: RoomID) async throws -> [Message] {
        try await store.messages(in: room, before: .max, limit: 10_000).messages
    }

    func texts(in room: RoomID) async throws -> [String] {
        let names = Dictionary(
            try await store.members(of: room).map { ($0.id, $0.displayName) }, uniquingKeysWith: { first, _ in first })
        return try await messages(in: room).map { "\(names[$0.sender] ?? "nobody"): \($0.text)" }
    }

    /// The names of all rooms, sorted.
    func roomNames() async throws -> [String] { try await store.roomSummaries().map(\.room.name).sorted() }

    func write(_ data: Data, as name: String) throws -> URL {
        let url = folder.path(name)
        try data.write(to: url)
        return url
    }
}
