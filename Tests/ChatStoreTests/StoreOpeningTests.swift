import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

@Suite(.timeLimit(.minutes(10))) struct StoreOpeningTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.path("deep/down/store") }
    private var database: URL { url.appendingPathComponent("chat.sqlite") }
    private var unsent: URL { url.appendingPathComponent("unsent.sqlite") }
    private var log: URL { url.appendingPathComponent("chat.sqlite-wal") }
    private var lock: URL { url.appendingPathComponent("chat.lock") }

    private func makeStore() async throws {
        let store = try await ChatStore.open(in: url)
        let new = NewRoom(room: Fixtures.room(), members: [Fixtures.own], createdAt: Fixtures.date)
        try await store.createRoom(new)
        for number in 1...50 {
            let message = Fixtures.message(Int64(number), text: String(repeating: "text \(number) ", count: 100))
            _ = try await store.append(
                NewMessage(id: message.id, sender: message.sender, text: message.text, sentAt: message.sentAt),
                to: message.roomID)
        }
        await store.close()
    }

    /// - Returns: the error when opening the store, or `nil`.
    private func openingError() async -> StoreOpeningError? {
        do {
            await (try ChatStore.open(in: url)).close()
            return nil
        } catch {
            return error as? StoreOpeningError
        }
    }

    private var isDamaged: Bool {
        get async {
            if case .damaged(database.path, _) = await openingError() { return true }
            return false
        }
    }

    @Test func cleanCloseRemovesTheWriteAheadLog() async throws {
        try await makeStore()
        #expect(try String(contentsOf: lock, encoding: .utf8) == "clean\n")
        #expect(!FileManager.default.fileExists(atPath: log.path))
        #expect(await openingError() == nil)
    }

    @Test("A process that is just being spawned, which has copies of all descriptors, does not keep the lock")
    func copiedDescriptor() async throws {
        let store = try await ChatStore.open(in: url)
        let path = lock.resolvingSymlinksInPath().path
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init)
        let original = try #require(
            descriptors.first {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
            })
        let copy = dup(original)
        defer { close(copy) }
        await store.close()
        #expect(await openingError() == nil)
    }

    @Test func storeCanBeOpenedOnlyOnce() async throws {
        let store = try await ChatStore.open(in: url)
        #expect(await openingError() == .busy)
        #expect(throws: StoreOpeningError.busy) { try ChatStore.setAside(at: url) }
        await store.close()
        #expect(await openingError() == nil)
    }

    @Test func closedStoreThrows() async throws {
        let store = try await ChatStore.open(in: url)
        await store.close()
        await #expect(throws: ChatError.self) { try await store.roomSummaries() }
        await store.close()
    }

    /// Closing waits for reads that finish on Swift's small thread pool, so it must not block that pool.
    @Test func manyStoresCanCloseDuringReads() async throws {
        await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...16 {
                group.addTask {
                    let store = try await ChatStore.open(in: folder.path("store-\(number)"))
                    let reads = (1...8).map { _ in Task { try await store.roomSummaries() } }
                    // Once the first read returns, the others are in progress.
                    _ = await reads[0].result
                    await store.close()
                    for read in reads { _ = await read.result }
                }
            }
        }
        for number in 1...16 {
            let lock = folder.path("store-\(number)/chat.lock")
            #expect(try String(contentsOf: lock, encoding: .utf8) == "clean\n")
        }
    }

    @Test func rejectsGarbageAndLeavesItUnchanged() async throws {
        try await makeStore()
        let garbage = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try garbage.write(to: database)
        #expect(await isDamaged)
        #expect(try Data(contentsOf: database) == garbage)
    }

    @Test(
        "The error about a damaged header names the field as in SQLite's documentation",
        arguments: [
            (17, "page size"), (18, "file format version"), (20, "reserved space"), (28, "database size"),
            (32, "freelist"), (44, "schema format"), (52, "auto-vacuum"), (56, "text encoding"),
        ])
    func damagedHeader(at offset: Int, field: String) async throws {
        try await makeStore()
        var bytes = try Data(contentsOf: database)
        bytes[offset] ^= 0x7F
        try bytes.write(to: database)
        #expect(await openingError() == .damaged(path: database.path, reason: "the header has an invalid \(field)"))
    }

    @Test(arguments: [1, 99, 4096, 20_000]) func rejectsATruncatedDatabase(at length: Int) async throws {
        try await makeStore()
        let cut = try Data(contentsOf: database).prefix(length)
        try cut.write(to: database)
        #expect(await isDamaged)
        #expect(try Data(contentsOf: database) == cut)
    }

    @Test func rejectsAnEmptiedOrMissingDatabase() async throws {
        try await makeStore()
        try Data().write(to: database)
        #expect(await isDamaged)
        #expect(try Data(contentsOf: database).isEmpty)
        try FileManager.default.removeItem(at: database)
        try Data("log".utf8).write(to: log)
        #expect(await isDamaged)
        #expect(try Data(contentsOf: log) == Data("log".utf8))
        try FileManager.default.removeItem(at: log)
        // Without one of the two files the store is damaged; without both it is new.
        #expect(await isDamaged)
        #expect(!FileManager.default.fileExists(atPath: database.path))
        try FileManager.default.removeItem(at: unsent)
        #expect(await isDamaged == false)
        #expect(await openingError() == nil)
    }

    @Test func missingUnsentDatabaseIsDamage() async throws {
        try await makeStore()
        try FileManager.default.removeItem(at: unsent)
        #expect(await openingError() == .damaged(path: unsent.path, reason: "the database is missing"))
    }

    /// SQLite opens a database whose write-ahead log is missing without an error.
    @Test(arguments: ["chat.sqlite", "unsent.sqlite"]) func missingWriteAheadLogAfterACrashIsReported(_ name: String)
        async throws
    {
        let store = try await ChatStore.open(in: url)
        try await store.createRoom(NewRoom(room: Fixtures.room(), members: [Fixtures.own], createdAt: Fixtures.date))
        let copy = folder.path("copy")
        try FileManager.default.copyItem(at: url, to: copy)
        await store.close()
        try FileManager.default.removeItem(at: copy.appendingPathComponent("\(name)-wal"))
        let expected = StoreOpeningError.damaged(
            path: copy.appendingPathComponent(name).path, reason: "the write-ahead log is missing")
        await #expect(throws: expected) { try await ChatStore.open(in: copy) }
        _ = try ChatStore.repair(at: copy)
        await (try ChatStore.open(in: copy)).close()
    }

    @Test func missingWriteAheadLogIndexIsRebuilt() async throws {
        let store = try await ChatStore.open(in: url)
        try await store.createRoom(NewRoom(room: Fixtures.room(), members: [Fixtures.own], createdAt: Fixtures.date))
        let copy = folder.path("copy")
        try FileManager.default.copyItem(at: url, to: copy)
        await store.close()
        for name in ["chat", "unsent"] {
            try FileManager.default.removeItem(at: copy.appendingPathComponent("\(name).sqlite-shm"))
        }
        let again = try await ChatStore.open(in: copy)
        #expect(try await again.roomSummaries().count == 1)
        await again.close()
    }

    /// SQLite silently drops all commits after a damaged frame of the write-ahead log.
    @Test func writeAheadLogDamagedBeforeItsEndIsRejected() async throws {
        let store = try await ChatStore.open(in: url)
        for number in 1...8 {
            let room = Fixtures.room("room-\(number)")
            try await store.createRoom(NewRoom(room: room, members: [Fixtures.own], createdAt: Fixtures.date))
        }
        let copy = folder.path("copy")
        try FileManager.default.copyItem(at: url, to: copy)
        await store.close()
        await (try ChatStore.open(in: copy)).close()
        try FileManager.default.removeItem(at: copy)
        let again = try await ChatStore.open(in: url)
        try await again.renameRoom(RoomID("room-1"), to: "Renamed")
        try await again.renameRoom(RoomID("room-2"), to: "Renamed")
        try FileManager.default.copyItem(at: url, to: copy)
        await again.close()
        let copied = copy.appendingPathComponent("chat.sqlite-wal")
        var bytes = try Data(contentsOf: copied)
        bytes[32 + 24 + 100] ^= 1
        try bytes.write(to: copied)
        let expected = StoreOpeningError.damaged(
            path: copy.appendingPathComponent("chat.sqlite").path,
            reason: "the write-ahead log is damaged before its end")
        await #expect(throws: expected) { try await ChatStore.open(in: copy) }
        #expect(try Data(contentsOf: copied) == bytes)
    }

    @Test func pagesAreCheckedOnlyAfterAnUncleanClose() async throws {
        try await makeStore()
        var bytes = try overwritePage(holding: "text 25 ")
        #expect(await openingError() == nil)
        try Data("opening\n".utf8).write(to: lock)
        bytes = try Data(contentsOf: database)
        #expect(await isDamaged)
        #expect(try Data(contentsOf: database) == bytes)
    }

    @Test func damageFoundWhileReadingIsCheckedAtTheNextLaunch() async throws {
        try await makeStore()
        _ = try overwritePage(holding: "text 25 ")
        let store = try await ChatStore.open(in: url)
        await #expect(throws: ChatError.self) {
            try await store.messages(in: Fixtures.room().id, before: .max, limit: 50)
        }
        await store.close()
        #expect(await isDamaged)
    }

    @Test func folderInPlaceOfTheDatabaseIsDamage() async throws {
        try FileManager.default.createDirectory(at: database, withIntermediateDirectories: true)
        #expect(await isDamaged)
        let aside = try ChatStore.setAside(at: url)
        #expect(FileManager.default.fileExists(atPath: aside.appendingPathComponent("chat.sqlite").path))
    }

    @Test func fileInPlaceOfTheFolderIsUnwritable() async throws {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("file".utf8).write(to: url)
        #expect(await openingError() == .unwritable(path: url.path))
    }

    @Test func rejectsNewerSchemasAndForeignDatabases() async throws {
        try await makeStore()
        try await change("PRAGMA user_version = 99")
        let newer = try Data(contentsOf: database)
        #expect(await openingError() == .newerSchema(found: 99, supported: Schema.history.version))
        #expect(try Data(contentsOf: database) == newer)
        try await change("PRAGMA user_version = 17410")
        #expect(await isDamaged, "no program will ever be that far ahead")
        try await change("PRAGMA user_version = 1; PRAGMA application_id = 7")
        #expect(await isDamaged)
    }

    @Test func creationInterruptedBeforeTheFirstPageIsRepeated() async throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data().write(to: database)
        try Data("new\n".utf8).write(to: lock)
        #expect(await openingError() == nil)
    }

    /// Root may write anywhere, so the store is opened by a process that dropped its privileges.
    @Test func readOnlyFolderIsUnwritable() async throws {
        try await makeStore()
        let outer = url.deletingLastPathComponent()
        let manager = FileManager.default
        for (path, mode) in [(url.path, 0o555), (outer.path, 0o755), (folder.url.path, 0o755)] {
            try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: lock.path)
        let nobody = geteuid() == 0 ? ["--user", "65534"] : []
        let outcome = try await SoakTool("parlance-store-soak").run(["open", url.path] + nobody)
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("unwritable"), "\(outcome.output)")
    }

    @Test func settingAsideNeverOverwrites() async throws {
        try await makeStore()
        try Data("log".utf8).write(to: log)
        let bytes = try Data(contentsOf: database)
        let first = try ChatStore.setAside(at: url, now: Fixtures.date)
        #expect(first.lastPathComponent == "store-damaged-20260102-030405")
        #expect(try Data(contentsOf: first.appendingPathComponent("chat.sqlite")) == bytes)
        #expect(try Data(contentsOf: first.appendingPathComponent("chat.sqlite-wal")) == Data("log".utf8))
        try await makeStore()
        let second = try ChatStore.setAside(at: url, now: Fixtures.date)
        #expect(second.lastPathComponent == "store-damaged-20260102-030405-2")
        #expect(try Data(contentsOf: first.appendingPathComponent("chat.sqlite")) == bytes)
        #expect(await openingError() == nil)
    }

    /// - Returns: the file's new content.
    private func overwritePage(holding text: String) throws -> Data {
        var bytes = try Data(contentsOf: database)
        let start = try #require(bytes.range(of: Data(text.utf8))).lowerBound / 4096 * 4096
        for offset in start..<start + 4096 { bytes[offset] = 0xFF }
        try bytes.write(to: database)
        return bytes
    }

    private func change(_ sql: String) async throws {
        let queue = try DatabaseQueue(path: database.path)
        try await queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        try queue.close()
    }
}
