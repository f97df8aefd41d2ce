import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// A file of keys in whose place an older copy of it was put.
@Suite(.timeLimit(.minutes(10))) struct OlderKeyStoreTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.path("keys.sqlite") }
    private var mark: URL { folder.path("keys.uses") }

    private func open(isNew: Bool = false) throws -> KeyStore { try KeyStore(folder: folder.url, isNew: isNew) }

    private func store(_ kind: CryptoRecord.Kind, in store: KeyStore) async throws {
        let key = CryptoRecord.Key(kind, owner: "!r:b", id: "1")
        try await store.commit(CryptoChange(put: [CryptoRecord(key, value: Data("value".utf8))]))
    }

    @Test(
        "An older copy counts as repaired until its records are outdated, if a message may have been sent since",
        arguments: [
            (CryptoRecord.Kind.outboundGroupSession, true), (.outgoingRequest, true), (.inboundGroupSession, false),
        ])
    func olderCopy(_ kind: CryptoRecord.Kind, isUse: Bool) async throws {
        var store = try open(isNew: true)
        try await self.store(.outboundGroupSession, in: store)
        try await store.close()
        let copy = try Data(contentsOf: file)
        store = try open()
        #expect(try await !store.wasRepaired())
        try await self.store(kind, in: store)
        try await store.close()
        try copy.write(to: file)
        for isOutdated in [false, true] {
            store = try open()
            #expect(try await store.wasRepaired() == isUse)
            try await self.store(kind, in: store)
            if isOutdated { try await store.noteOutdated() }
            try await store.close()
        }
        store = try open()
        #expect(try await !store.wasRepaired())
        try await store.close()
    }

    @Test(
        "The number of uses beside the file is that in the file, or the one before it if the process ended then",
        arguments: [nil, "", "?", "-1", "1", "2", "3", "4", "9223372036854775807"] as [String?])
    func uses(text: String?) async throws {
        var store = try open(isNew: true)
        for _ in 1...3 { try await self.store(.outgoingRequest, in: store) }
        try await store.close()
        #expect(try Data(contentsOf: mark) == Data("3".utf8))
        try FileManager.default.removeItem(at: mark)
        if let text { try Data(text.utf8).write(to: mark) }
        store = try open()
        #expect(try await store.wasRepaired() == (text != "2" && text != "3"))
        try await self.store(.outgoingRequest, in: store)
        try await store.close()
    }

    @Test("A number that is none, or lags behind, is written again by the next opening", arguments: ["?", "1", "2"])
    func writtenAgain(text: String) async throws {
        var store = try open(isNew: true)
        for _ in 1...3 { try await self.store(.outgoingRequest, in: store) }
        try await store.close()
        try Data(text.utf8).write(to: mark)
        store = try open()
        #expect(try Data(contentsOf: mark) == Data("3".utf8))
        try await store.noteOutdated()
        try await store.close()
        store = try open()
        #expect(try await !store.wasRepaired())
        try await store.close()
    }

    @Test("If the number cannot be read or written, the file is not opened, or the change fails as a whole")
    func unreadableUses() async throws {
        let store = try open(isNew: true)
        let next = folder.path("keys.uses-new")
        try FileManager.default.createDirectory(at: next, withIntermediateDirectories: false)
        await #expect(throws: ChatError.self) { try await self.store(.outgoingRequest, in: store) }
        #expect(try await store.cryptoRecordCount(.outgoingRequest) == 0)
        #expect(!store.isSuspect)
        try await store.close()
        try FileManager.default.removeItem(at: next)
        try FileManager.default.createDirectory(at: mark, withIntermediateDirectories: false)
        #expect(throws: StoreOpeningError.unwritable(path: mark.path)) { try open() }
        try FileManager.default.removeItem(at: mark)
        let again = try open()
        #expect(try await !again.wasRepaired())
        try await again.close()
    }

    @Test("The next file, after this one was set aside, is no older copy")
    func nextFile() async throws {
        var store = try open(isNew: true)
        try await self.store(.outgoingRequest, in: store)
        try await store.close()
        try KeyStore.setAside(in: folder.url, now: Fixtures.date)
        store = try open(isNew: true)
        #expect(try await !store.wasRepaired())
        try await self.store(.outgoingRequest, in: store)
        try await store.close()
        store = try open()
        #expect(try await !store.wasRepaired())
        try await store.close()
    }
}
