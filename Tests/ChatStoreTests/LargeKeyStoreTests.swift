import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// A file with keys that is too large to be checked before use.
@Suite(.timeLimit(.minutes(10))) struct LargeKeyStoreTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.path("keys.sqlite") }
    private var isMarked: Bool { FileManager.default.fileExists(atPath: folder.path("keys.suspect").path) }

    private func open(isNew: Bool = false) throws -> KeyStore { try KeyStore(folder: folder.url, isNew: isNew) }

    private func records(_ kind: CryptoRecord.Kind, _ count: Int, size: Int) -> [CryptoRecord] {
        (0..<count).map { number in
            CryptoRecord(CryptoRecord.Key(kind, owner: "@a:b", id: ExactText("\(number)")), value: Data(count: size))
        }
    }

    /// Creates a file of 17 MiB with 2,000 devices.
    /// - Returns: The offset of a page that is read with the devices.
    private func makeFile() async throws -> Int {
        let store = try open(isNew: true)
        try await store.commit(CryptoChange(put: records(.device, 2_000, size: 200)))
        try await store.close()
        let page = try Data(contentsOf: file).count / 4_096 / 2 * 4_096
        let again = try open()
        try await again.commit(CryptoChange(put: records(.withheldSession, 17, size: 1 << 20)))
        try await again.close()
        return page
    }

    private func damage(_ page: Int) throws {
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(page..<page + 4_096, with: [UInt8](repeating: 0xA5, count: 4_096))
        try bytes.write(to: file)
    }

    @Test(
        "Damage that the check beside the use finds, or an access, is repaired at the next opening.",
        arguments: [false, true])
    func damageInUse(isFoundByCheck: Bool) async throws {
        try damage(try await makeFile())
        let store = try open()
        #expect(store.needsCheck && !store.isSuspect && !isMarked)
        if isFoundByCheck {
            #expect(await store.check() != nil)
        } else {
            await #expect(throws: ChatError.self) { try await store.cryptoRecords(.device, owner: nil) }
        }
        #expect(store.isSuspect && isMarked)
        try await store.close()
        let bytes = try Data(contentsOf: file)
        for _ in 0..<2 {
            #expect(throws: StoreOpeningError.self) { try open() }
            #expect(isMarked)
        }
        let copy = try KeyStore.repair(in: folder.url)
        #expect(try Data(contentsOf: copy) == bytes)
        #expect(!isMarked)
        let repaired = try open()
        #expect(try await repaired.wasRepaired())
        #expect(try await repaired.cryptoRecords(.device, owner: nil).count >= 1_900)
        #expect(await repaired.check() == nil)
        #expect(!repaired.isSuspect && !isMarked)
        try await repaired.close()
    }

    @Test("A sign of damage has an intact file checked once, and changes nothing.") func falseAlarm() async throws {
        _ = try await makeFile()
        let store = try open()
        store.beforeAccess.withLock { $0 = { throw DatabaseError(resultCode: .SQLITE_IOERR) } }
        await #expect(throws: ChatError.self) { try await store.cryptoRecords(.device, owner: nil) }
        #expect(store.isSuspect && isMarked)
        try await store.close()
        let checked = try open()
        #expect(!checked.needsCheck && !checked.isSuspect && !isMarked)
        #expect(try await !checked.wasRepaired())
        #expect(try await checked.cryptoRecords(.device, owner: nil).count == 2_000)
        try await checked.close()
        let next = try open()
        #expect(next.needsCheck)
        try await next.close()
    }

    @Test("A full disk, a canceled call and a rejected change are no signs of damage.") func otherErrors()
        async throws
    {
        let store = try open(isNew: true)
        let errors: [any Error] = [DatabaseError(resultCode: .SQLITE_FULL), CancellationError(), ChatError.busy]
        for error in errors {
            store.beforeAccess.withLock { $0 = { throw error } }
            await #expect(throws: (any Error).self) { try await store.cryptoRecords(.device, owner: nil) }
        }
        #expect(!store.isSuspect && !isMarked)
    }

    @Test("A check that outlasts the store marks nothing: by then another file may have the name.") func lateCheck()
        async throws
    {
        try damage(try await makeFile())
        let store = try open()
        try await store.close()
        #expect(await store.check() != nil)
        #expect(!isMarked)
    }
}
