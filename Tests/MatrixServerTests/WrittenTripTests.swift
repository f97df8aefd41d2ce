import Foundation
import Testing

/// What random messages mention, say and look like is the same wherever they come.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WrittenTripTests {
    /// Messages that are under way together, in a room of their own.
    private static let batch = 50

    /// Of `PARLANCE_TRIPS` messages, or as many as `make test` has time for.
    static var batches: Range<Int> {
        let count = ProcessInfo.processInfo.environment["PARLANCE_TRIPS"].flatMap { Int($0) } ?? batch
        return 0..<max(1, (count + batch - 1) / batch)
    }

    @Test(arguments: batches) func marksStayOnTheWholeWay(_ number: Int) async throws {
        var trip = try await WrittenTrip(of: Self.batch, seed: UInt64(2026 + number))
        try await trip.send()
        try await trip.editThereAndBack()
        try await trip.restart()
        try await trip.forward()
        try await trip.exportAndImport()
        await trip.close()
    }
}
