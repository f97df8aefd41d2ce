import Fuzzing
import Testing

/// A fuzzer that is asked for a number of steps makes as many or fails.
struct FuzzCountTests {
    @Test func aRunThatEndsBeforeItsCountHasFailed() throws {
        var count = try #require(FuzzCount(limit: "10000000"))
        _ = count.advance(to: 9_999_999)
        #expect(count.endsEarly && !count.isComplete)
        #expect(count.summary == "9999999 of 10000000 steps")
        _ = count.advance(to: 10_000_003)
        #expect(!count.endsEarly && count.isComplete)
    }

    @Test func withoutACountARunEndsWhenItIsEnded() throws {
        var count = try #require(FuzzCount(limit: nil))
        _ = count.advance(to: 5)
        #expect(!count.endsEarly && !count.isComplete && count.summary == "5 steps")
    }

    @Test(arguments: ["10M", "-1", "0", "1e7"]) func otherCountsAreRefused(limit: String) {
        #expect(FuzzCount(limit: limit) == nil)
    }

    @Test func eachMillionIsReportedOnce() throws {
        var count = try #require(FuzzCount(limit: "5000000"))
        let reported = [999_999, 1_000_002, 1_999_999, 3_000_000, 3_000_001].map { count.advance(to: $0) }
        #expect(reported == [false, true, false, true, false])
    }
}
