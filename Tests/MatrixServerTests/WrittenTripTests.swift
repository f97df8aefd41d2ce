import Foundation
import Testing

/// Random messages keep their mentions, text and appearance at every stage.
@Suite(.serialized, .timeLimit(.minutes(10))) struct WrittenTripTests {
    /// The number of messages sent together, in a room of their own.
    private static let batch = 50

    /// Batches for `PARLANCE_TRIPS` messages; one batch by default, as in `make test`.
    static var batches: Range<Int> {
        let count = ProcessInfo.processInfo.environment["PARLANCE_TRIPS"].flatMap { Int($0) } ?? batch
        return 0..<max(1, (count + batch - 1) / batch)
    }

    @Test(arguments: batches) func marksSurviveTheWholeRoundTrip(_ number: Int) async throws {
        var trip = try await WrittenTrip(of: Self.batch, seed: UInt64(2026 + number))
        try await trip.send()
        try await trip.editThereAndBack()
        try await trip.restart()
        try await trip.forward()
        try await trip.exportAndImport()
        await trip.close()
    }
}
