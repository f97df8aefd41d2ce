import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Testing
import ToolSupport

/// Random sequences of what happens to device lists.
@Suite struct RandomQueriesTests {
    private let start = Date(timeIntervalSince1970: 1_000_000)

    @Test("A query has each outdated user who is in no other one, whatever happened before", arguments: 1...5)
    func dueUsers(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let users = (0..<30).map { ExactText("@u\($0):b") }
        let answer: JSONValue = ["device_keys": [:], "failures": [:]]
        var tracker = DeviceTracker()
        var asked: Set<ExactText> = []
        var pending: [DeviceTracker.Query] = []
        for _ in 0..<1_000 {
            let some = users.filter { _ in Int.random(in: 0..<6, using: &random) == 0 }
            switch Int.random(in: 0..<6, using: &random) {
            case 0: tracker.track(some)
            case 1: tracker.received(changed: some, left: [])
            case 2:
                tracker.received(changed: [], left: some)
                asked.subtract(some)
            case 3:
                let due = users.filter { tracker.isOutdated($0) == true && !asked.contains($0) }
                let query = tracker.nextQuery(at: start)
                #expect(Set(query?.users ?? []) == Set(due))
                asked.formUnion(due)
                if let query { pending.append(query) }
            default:
                guard !pending.isEmpty else { continue }
                let query = pending.removeFirst()
                asked.subtract(query.users)
                if Bool.random(using: &random) {
                    tracker.failed(query)
                } else {
                    _ = tracker.apply(answer, to: query, known: [:], at: start)
                }
            }
        }
    }

    @Test("What was outdated before a restart is queried after it")
    func restart() throws {
        let records = ["@a:b", "@c:b"].map { user in
            CryptoRecord(CryptoRecord.Key(.trackedUser, owner: ExactText(user)), value: Data([user == "@a:b" ? 0 : 1]))
        }
        var tracker = DeviceTracker(records: records)
        #expect(tracker.nextQuery(at: start)?.users == ["@a:b"])
        #expect(tracker.nextQuery(at: start) == nil && tracker.nextAttempt(after: start) == nil)
    }
}
