import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// What the errors of the databases say: they are shown and may be reported.
@Suite(.timeLimit(.minutes(10))) struct ErrorDescriptionTests {
    private static let text = "GEHEIM"
    private let folder = TemporaryFolder()

    /// A statement that fails because of its value.
    private static func fail(_ db: Database) throws {
        try db.execute(sql: "CREATE TEMP TABLE note (text CHECK (length(text) < 3))")
        try db.execute(sql: "INSERT INTO note VALUES (?)", arguments: [text])
    }

    private func expectNoValue(_ work: () async throws -> Void) async {
        do {
            try await work()
            Issue.record("The statement has not failed.")
        } catch {
            var dumped = ""
            dump(error, to: &dumped)
            #expect("\(error)".contains("CHECK constraint failed"))
            for description in ["\(error)", String(reflecting: error), dumped] {
                #expect(!description.contains(Self.text))
            }
        }
    }

    @Test("An error of the history or the keys contains none of the values of its statement")
    func values() async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        await expectNoValue { try await store.write(Self.fail) }
        await expectNoValue { try await store.writeCache(Self.fail) }
        await store.close()
        let keys = try KeyStore(folder: folder.url, isNew: true)
        await expectNoValue { try await keys.write(Self.fail) }
        try await keys.close()
    }
}
