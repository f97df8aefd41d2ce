import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// What a check of a database says of it, and what it does not.
@Suite(.timeLimit(.minutes(10))) struct StoreInspectionTests {
    private let folder = TemporaryFolder()

    private func file(_ name: String) -> DatabaseFile {
        DatabaseFile(path: folder.path(name).path, schema: Schema.history)
    }

    @Test func failedCheckSaysNothingOfTheFile() throws {
        #expect(throws: DatabaseError.self) { try StoreInspection.problem(in: file("missing")) }
        let garbage = file("garbage")
        try Data(repeating: 0xA5, count: 8192).write(to: URL(fileURLWithPath: garbage.path))
        #expect(try StoreInspection.problem(in: garbage) != nil)
    }

    @Test func corruptionIsDistinguishedFromOtherErrors() {
        let damage: [ResultCode] = [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR_SHORT_READ, .SQLITE_IOERR_CORRUPTFS]
        let others: [ResultCode] = [
            .SQLITE_CANTOPEN, .SQLITE_BUSY, .SQLITE_NOMEM, .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMMAP, .SQLITE_FULL,
        ]
        for code in damage { #expect(DatabaseError(resultCode: code).isCorruption) }
        for code in others { #expect(!DatabaseError(resultCode: code).isCorruption) }
    }
}
