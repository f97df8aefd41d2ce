public import ChatCore
public import Foundation
public import Testing

/// The daily deletion of unused files by a backend that stays open, on a clock that the test moves.
public enum DailySweep {
    /// The time to start the backend at. The times of files are real: by then, they are old enough.
    public static var date: Date { Date(timeIntervalSinceNow: 10 * 86_400) }

    /// Checks that a file that nothing refers to is deleted within a day, and one that undo can bring back is not.
    /// - Parameter clock: the backend's `upkeepClock`.
    public static func check(
        _ media: any MediaService, on clock: ManualClock, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        // That of the start is over.
        await clock.waitForSleepers()
        let dropped = try await media.storeMedia(.data(Data("dropped".utf8)), named: "d", type: "text/plain") { _ in }
        let undone = try await media.storeMedia(.data(Data("undone".utf8)), named: "u", type: "text/plain") { _ in }
        _ = try await media.content(of: dropped)
        let uri = undone.uri
        let registration = MediaInUse.shared.register { Set([uri]) }
        clock.advance(by: .seconds(86_400))
        await clock.waitForSleepers()
        await #expect(throws: ChatError.notFound, sourceLocation: sourceLocation) {
            try await media.content(of: dropped)
        }
        _ = try await media.content(of: undone)
        withExtendedLifetime(registration) {}
    }
}
