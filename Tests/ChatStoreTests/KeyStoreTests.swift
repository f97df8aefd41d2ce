import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

@Suite(.timeLimit(.minutes(10))) struct KeyStoreTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path("keys.sqlite").path }

    private func record(
        _ kind: CryptoRecord.Kind, _ owner: ExactText, _ id: ExactText, _ value: String
    ) -> CryptoRecord { CryptoRecord(CryptoRecord.Key(kind, owner: owner, id: id), value: Data(value.utf8)) }

    private func record(_ device: ExactText, _ value: String) -> CryptoRecord {
        record(.device, "@a:b", device, value)
    }

    private func open(isNew: Bool = false) throws -> KeyStore { try KeyStore(folder: folder.url, isNew: isNew) }

    @Test func recordsComeBackAfterClosing() async throws {
        let store = try open(isNew: true)
        let records = [
            record("D", "1"), record("E", "2"), record(.device, "@b:b", "D", "3"), record(.identity, "@a:b", "D", "4"),
        ]
        try await store.commit(CryptoChange(put: records))
        try await store.close()
        let again = try open()
        #expect(try await again.cryptoRecords(.device, owner: "@a:b") == Array(records[0...1]))
        #expect(try await again.cryptoRecords(.device, owner: nil) == Array(records[0...2]))
        #expect(try await again.cryptoRecord(records[3].key) == records[3])
        #expect(try await again.cryptoRecord(CryptoRecord.Key(.account)) == nil)
        try await again.commit(CryptoChange(put: [record("D", "new")], removed: [records[1].key]))
        #expect(try await again.cryptoRecords(.device, owner: "@a:b") == [record("D", "new")])
        #expect(try await !again.wasRepaired())
    }

    @Test("A damaged row is an error") func damagedRow() async throws {
        let store = try open(isNew: true)
        try await store.commit(CryptoChange(put: [record("D", "1")]))
        try await store.close()
        let database = try DatabaseQueue(path: path)
        try await database.write { db in
            // What the table's types forbid, as a flipped bit does.
            try db.execute(sql: "PRAGMA writable_schema = ON")
            try db.execute(
                sql:
                    "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'record' AND type = 'table'"
            )
            try db.execute(sql: "PRAGMA writable_schema = RESET")
        }
        try await database.write { try $0.execute(sql: "UPDATE record SET value = 7") }
        try database.close()
        let again = try open()
        await #expect(throws: (any Error).self) { try await again.cryptoRecords(.device, owner: nil) }
        try await again.close()
    }

    @Test func recordsOfAnOwnerAreFoundWithoutThoseOfOthers() async throws {
        let store = try open(isNew: true)
        let plan = try await store.read { db in
            let sql = "EXPLAIN QUERY PLAN " + KeyStore.query(ofOwner: true)
            return try Row.fetchAll(db, sql: sql, arguments: ["kind": 5, "owner": Data()])
                .map { $0["detail"] as String }
        }
        #expect(plan.contains { $0.contains("kind=? AND owner=?") }, "\(plan)")
    }

    @Test func recordsOfManyOwnersAreReadAtOnce() async throws {
        let store = try open(isNew: true)
        let owners: [ExactText] = ["@a:b", "@\u{E9}:b", "@e\u{301}:b"]
        let records = owners.flatMap { owner in ["1", "2"].map { record(.device, owner, $0, "\(owner) \($0)") } }
        try await store.commit(CryptoChange(put: records + [record(.identity, "@a:b", "1", "other")]))
        let read = try await store.cryptoRecords(.device, owners: [owners[0], owners[1], "@nobody:b"])
        #expect(read == [owners[0]: Array(records[0...1]), owners[1]: Array(records[2...3])])
        #expect(try await store.cryptoRecords(.device, owners: []).isEmpty)
        try await store.close()
        await #expect(throws: ChatError.self) { try await store.cryptoRecords(.device, owners: ["@a:b"]) }
    }

    @Test func changesAreCounted() async throws {
        let store = try open(isNew: true)
        var counts = [await store.changeCount()]
        try await store.commit(CryptoChange(put: [record("D", "1")]))
        counts.append(await store.changeCount())
        _ = try await store.cryptoRecords(.device, owner: nil)
        #expect(await store.changeCount() == counts[1])
        // A failed commit counts as a change, even if it has changed nothing.
        store.beforeAccess.withLock { $0 = { throw CancellationError() } }
        await #expect(throws: (any Error).self) {
            try await store.commit(CryptoChange(put: [record("E", "1")]))
        }
        counts.append(await store.changeCount())
        #expect(Set(counts).count == 3)
    }

    @Test func manyRecordsAreReadPageByPage() async throws {
        let store = try open(isNew: true)
        let records = ["a", "é", "z"].flatMap { (owner: ExactText) in
            ["", "1", "2"].map { record(.inboundGroupSession, owner, $0, "\(owner) \($0)") }
        }
        try await store.commit(CryptoChange(put: records.shuffled() + [record(.device, "b", "1", "other")]))
        let expected = records.sorted { ($0.key.owner, $0.key.id) < ($1.key.owner, $1.key.id) }
        for limit in 1...10 {
            var read: [CryptoRecord] = []
            while true {
                let page = try await store.cryptoRecords(.inboundGroupSession, after: read.last?.key, limit: limit)
                #expect(page.count <= limit)
                if page.isEmpty { break }
                read += page
            }
            #expect(read == expected)
        }
        #expect(try await store.cryptoRecordCount(.inboundGroupSession) == 9)
        #expect(try await store.cryptoRecordCount(.account) == 0)
        #expect(try await store.cryptoRecords(.account, after: nil, limit: 5).isEmpty)
    }

    /// An unreadable device must not count as a missing one, which would be replaced by a new device.
    @Test func unreadableMarkOfADeviceIsAnError() throws {
        #expect(try KeyStore.begunDevice(in: folder.url) == nil)
        try KeyStore.noteBegun("D", in: folder.url)
        #expect(try KeyStore.begunDevice(in: folder.url) == "D")
        let mark = folder.path("keys.begun")
        try FileManager.default.removeItem(at: mark)
        try FileManager.default.createDirectory(at: mark, withIntermediateDirectories: false)
        #expect(throws: StoreOpeningError.unwritable(path: mark.path)) { try KeyStore.begunDevice(in: folder.url) }
    }

    /// User IDs that differ only in their Unicode normalization are different users, in the file as well.
    @Test func identifiersAreComparedByTheirBytes() async throws {
        let store = try open(isNew: true)
        let (one, other) = (record(.device, "@\u{E9}:b", "D", "1"), record(.device, "@e\u{301}:b", "D", "2"))
        #expect(one.key != other.key)
        try await store.commit(CryptoChange(put: [one, other]))
        #expect(try await store.cryptoRecords(.device, owner: "@\u{E9}:b") == [one])
        #expect(try await store.cryptoRecords(.device, owner: "@e\u{301}:b") == [other])
    }

    @Test func aMessageIsReadFromOneEventOrTheChangeFails() async throws {
        let store = try open(isNew: true)
        let message = GroupMessage(session: "s", index: 4_294_967_295)
        try await store.commit(CryptoChange(put: [record("D", "1")], read: [message: "$one"]))
        // A sync response may be received twice.
        try await store.commit(CryptoChange(read: [message: "$one"]))
        #expect(try await store.event(readFrom: message) == "$one")
        #expect(try await store.event(readFrom: GroupMessage(session: "s", index: 0)) == nil)
        await #expect(throws: ChatError.self) {
            try await store.commit(CryptoChange(put: [record("D", "2")], read: [message: "$other"]))
        }
        #expect(try await store.event(readFrom: message) == "$one")
        #expect(try await store.cryptoRecords(.device, owner: nil) == [record("D", "1")])
    }

    @Test("Messages of several ranges of indices are found, and no others")
    func messagesOfRanges() async throws {
        let store = try open(isNew: true)
        func messages(_ indices: [UInt32], of session: ExactText) -> [GroupMessage: ExactText] {
            let messages = indices.map { GroupMessage(session: session, index: $0) }
            return Dictionary(zip(messages, messages.map { ExactText("$\(session)\($0.index)") })) { $1 }
        }
        let last: UInt32 = .max
        let stored = messages([0, 1, 2, 3, 7, 12, 13, 500, last], of: "s").merging(messages([2, 9], of: "t")) { $1 }
        try await store.commit(CryptoChange(read: stored))
        let asked = messages([0, 2, 3, 6, 7, 13, 400, last - 1, last], of: "s").merging(messages([3, 9], of: "t")) {
            $1
        }
        let known = try await store.events(readFrom: Set(asked.keys))
        #expect(known == messages([0, 2, 3, 7, 13, last], of: "s").merging(messages([9], of: "t")) { $1 })
        #expect(KeyStore.ranges(of: [last, 3, 0, 8, 14]) == [0...8, 14...14, last...last])
    }

    @Test func eachChangeIsSyncedToTheDisk() async throws {
        let store = try open(isNew: true)
        #expect(try await store.write { db in try Int.fetchOne(db, sql: "PRAGMA synchronous") } == 2)
        #expect(FileSystem.size(of: path) != nil)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func aLostFileIsDamageAndNotANewOne() throws {
        #expect(throws: StoreOpeningError.self) { try open() }
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(throws: StoreOpeningError.self) { try open() }
        try Data("something else, long enough to be a file of its own".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: StoreOpeningError.self) { try open(isNew: true) }
    }

    @Test func aNewerFileIsLeftAlone() async throws {
        let store = try open(isNew: true)
        try await store.write { db in try db.execute(sql: "PRAGMA user_version = 99") }
        try await store.close()
        #expect(throws: StoreOpeningError.newerSchema(found: 99, supported: Schema.keys.version)) { try open() }
    }

    /// Returns the bytes of a file of 2,000 records in which a page in the middle is overwritten.
    private func damage() async throws -> Data {
        let store = try open(isNew: true)
        try await store.commit(
            CryptoChange(
                put: (0..<2_000).map { record(ExactText("D\($0)"), String(repeating: "x", count: 200)) },
                read: [GroupMessage(session: "s", index: 7): "$e"]))
        try await store.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let page = bytes.count / 4_096 / 2 * 4_096
        bytes.replaceSubrange(page..<page + 4_096, with: [UInt8](repeating: 0xA5, count: 4_096))
        try bytes.write(to: URL(fileURLWithPath: path))
        return bytes
    }

    @Test func aDamagedFileIsRebuiltAndNothingIsDeleted() async throws {
        let bytes = try await damage()
        #expect(throws: StoreOpeningError.self) { try open() }
        let aside = try KeyStore.repair(in: folder.url)
        #expect(try Data(contentsOf: aside) == bytes)
        let store = try open()
        #expect(try await store.wasRepaired())
        let found = try await store.cryptoRecords(.device, owner: "@a:b")
        #expect(found.count >= 1_900 && Set(found.map(\.value.count)) == [200])
        #expect(try await store.event(readFrom: GroupMessage(session: "s", index: 7)) == "$e")
    }

    @Test func aRepairThatWasKilledIsFinished() async throws {
        let bytes = try await damage()
        try KeyStore.repair(in: folder.url)
        // Simulates a kill after the rebuilt file was completed but before it replaced the damaged one.
        try FileManager.default.moveItem(atPath: path, toPath: path + "-rebuilt")
        try bytes.write(to: URL(fileURLWithPath: path))
        try backdate(path)
        try KeyStore.repair(in: folder.url)
        #expect(try await open().cryptoRecords(.device, owner: "@a:b").count >= 1_900)
    }

    private func backdate(_ path: String) throws {
        let date = Date(timeIntervalSinceNow: -3_600)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    @Test("A file whose repair was killed after its log was removed is not opened as it was before that log")
    func anInterruptedRepairIsNoIntactFile() async throws {
        var store = try open(isNew: true)
        try await store.commit(CryptoChange(put: [record("D", "1")]))
        try await store.close()
        let file = URL(fileURLWithPath: path)
        let logFile = URL(fileURLWithPath: path + "-wal")
        let withoutLog = try Data(contentsOf: file)
        store = try open()
        let records = [record("D", "2"), record("E", "3"), record("F", "4")]
        for record in records { try await store.commit(CryptoChange(put: [record])) }
        var log = try Data(contentsOf: logFile)
        try await store.close()
        // In the first frame, behind the headers.
        log[32 + 24 + 100] ^= 0xFF
        try withoutLog.write(to: file)
        try log.write(to: logFile)
        #expect(throws: StoreOpeningError.self) { try open() }
        try KeyStore.repair(in: folder.url)
        // Simulates a kill before the rename.
        try FileManager.default.moveItem(atPath: path, toPath: path + "-rebuilt")
        try withoutLog.write(to: file)
        try backdate(path)
        #expect(throws: StoreOpeningError.self) { try open() }
        try KeyStore.repair(in: folder.url)
        let repaired = try open()
        #expect(try await repaired.wasRepaired())
        #expect(try await repaired.cryptoRecords(.device, owner: nil) == records)
        try await repaired.close()
    }

    @Test("A rebuilt file counts as repaired until its records are marked as outdated")
    func repairEnds() async throws {
        var store = try open(isNew: true)
        try await store.close()
        try KeyStore.repair(in: folder.url)
        for isOutdated in [false, true] {
            store = try open()
            #expect(try await store.wasRepaired())
            if isOutdated { try await store.noteOutdated() }
            try await store.close()
        }
        store = try open()
        #expect(try await !store.wasRepaired())
        try await store.close()
    }

    /// Earlier versions opened a file whose repair had been killed.
    @Test("A rebuilt file that is older than the keys does not replace them")
    func keysAreNotRolledBack() async throws {
        var store = try open(isNew: true)
        try await store.commit(CryptoChange(put: [record("D", "1")]))
        try await store.close()
        let earlier = try Data(contentsOf: URL(fileURLWithPath: path))
        store = try open()
        try await store.commit(CryptoChange(put: [record("D", "2")]))
        try await store.close()
        try earlier.write(to: URL(fileURLWithPath: path + "-rebuilt"))
        try backdate(path + "-rebuilt")
        #expect(throws: StoreOpeningError.self) { try open() }
        try KeyStore.repair(in: folder.url)
        let repaired = try open()
        #expect(try await repaired.cryptoRecords(.device, owner: nil) == [record("D", "2")])
        #expect(try await repaired.wasRepaired())
        try await repaired.close()
    }

    @Test("What an interrupted repair left is set aside with the file")
    func aRebuiltFileIsSetAside() async throws {
        let store = try open(isNew: true)
        try await store.close()
        try FileManager.default.copyItem(atPath: path, toPath: path + "-rebuilt")
        try KeyStore.setAside(in: folder.url, now: Fixtures.date)
        #expect(!KeyStore.exists(in: folder.url))
        let next = try open(isNew: true)
        try await next.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(names.filter { $0.hasSuffix("-rebuilt") } == ["keys.sqlite-earlier-20260102-030405-rebuilt"])
    }

    @Test("The next file begins with the records that last, wherever the process ended meanwhile", arguments: 0...3)
    func lastingRecords(step: Int) async throws {
        var store = try open(isNew: true)
        let pinned = record(.identity, "@a:b", "keys", "pinned")
        try await store.commit(CryptoChange(put: [pinned, record("D", "1")]))
        try await store.close()
        try KeyStore.noteBegun("D", in: folder.url)
        if step == 0 {
            try LastingRecords(in: folder.url).write([pinned])
        } else {
            try KeyStore.setAside(in: folder.url, now: Fixtures.date, lasting: [pinned])
        }
        // The next file was created, or has its tables already.
        if step >= 2 { #expect(FileManager.default.createFile(atPath: path, contents: Data())) }
        if step == 3 { try Schema.keys.migrate(DatabaseQueue(path: path)) }
        #expect(KeyStore.exists(in: folder.url))
        store = try open()
        #expect(try await store.cryptoRecord(pinned.key) == pinned)
        #expect(try await store.cryptoRecords(.device, owner: nil).isEmpty == (step > 0))
        let newer = record(.identity, "@a:b", "keys", "newer")
        try await store.commit(CryptoChange(put: [newer]))
        try await store.close()
        // As after a power failure, which undoes the removal.
        try LastingRecords(in: folder.url).write([pinned])
        store = try open()
        #expect(try await store.cryptoRecord(newer.key) == newer)
        #expect(!LastingRecords(in: folder.url).exist)
        try await store.close()
    }

    @Test("Unreadable records beside the file are no damage of it, and stay until they can be read")
    func unreadableLastingRecords() async throws {
        var store = try open(isNew: true)
        try await store.commit(CryptoChange(put: [record("D", "1")]))
        try await store.close()
        let lasting = folder.path("keys.lasting")
        try Data("[{".utf8).write(to: lasting)
        #expect(throws: StoreOpeningError.unwritable(path: lasting.path)) { try open() }
        #expect(LastingRecords(in: folder.url).exist)
        let pinned = record(.identity, "@a:b", "keys", "pinned")
        try LastingRecords(in: folder.url).write([pinned])
        store = try open()
        #expect(try await store.cryptoRecord(pinned.key) == pinned)
        #expect(try await store.cryptoRecords(.device, owner: nil) == [record("D", "1")])
        #expect(try await !store.wasRepaired())
        try await store.close()
    }

    /// Repairing the history replaces the folder, and the keys move along.
    @Test func aRepairedHistoryKeepsTheKeys() async throws {
        let url = folder.path("store")
        let history = try await ChatStore.open(in: url)
        let keys = try KeyStore(folder: url, isNew: true)
        try await keys.commit(CryptoChange(put: [record("D", "1")]))
        try await keys.close()
        try KeyStore.noteBegun("D", in: url)
        try KeyStore.noteMovingCredential(true, in: url)
        await history.close()
        try Data(repeating: 0xA5, count: 8_192).write(to: url.appendingPathComponent("chat.sqlite"))
        _ = try ChatStore.repair(at: url)
        let again = try KeyStore(folder: url, isNew: false)
        #expect(try await again.cryptoRecords(.device, owner: nil) == [record("D", "1")])
        #expect(try await !again.wasRepaired())
        #expect(try KeyStore.begunDevice(in: url) == "D")
        #expect(try KeyStore.isMovingCredential(in: url))
    }
}
