import ChatCore
import Foundation

/// The rows of the joined rooms. Only changed rows are derived again: a draft or message changes one room of possibly
/// thousands.
nonisolated struct RoomRows {
    private(set) var rows: [RoomListViewModel.Row] = []
    /// The number of rows derived so far.
    private(set) var derivedCount = 0
    private var summaries: [RoomSummary] = []
    private var open: RoomID?
    /// The current day, which the rows' dates are relative to.
    private var today: CalendarDay?

    /// Derives all rows again at the next update, as after a change of the time zone.
    mutating func invalidate() { summaries = [] }

    /// - Parameter lines: the plain text of each room's last message, which depends only on its summary.
    mutating func update(_ next: [RoomSummary], lines: PreviewLines, opening: RoomID?, now: Date) {
        let day = CalendarDay(of: now)
        if day != today { invalidate() }
        let known = summaries.count == rows.count ? rows : []
        let isInPlace = known.count == next.count && zip(known, next).allSatisfy { $0.id == $1.id }
        if !isInPlace {
            let places = Dictionary(zip(known.map(\.id), known.indices), uniquingKeysWith: { first, _ in first })
            let previous = next.map { places[$0.id] }
            rows = zip(next, previous).map { summary, place in
                if let place, isCurrent(summaries[place], summary, opening) { return known[place] }
                return row(summary, lines, opening, now)
            }
        } else {
            // Change the array in place: an unchanged one then compares as equal without comparing elements.
            for index in next.indices where !isCurrent(summaries[index], next[index], opening) {
                let row = row(next[index], lines, opening, now)
                if row != rows[index] { rows[index] = row }
            }
        }
        (summaries, open, today) = (next, opening, day)
    }

    private func isCurrent(_ before: RoomSummary, _ after: RoomSummary, _ opening: RoomID?) -> Bool {
        before == after && (opening == open || (after.id == opening) == (after.id == open))
    }

    private mutating func row(
        _ summary: RoomSummary, _ lines: PreviewLines, _ opening: RoomID?, _ now: Date
    ) -> RoomListViewModel.Row {
        derivedCount += 1
        return RoomListViewModel.Row(summary, saying: lines[summary.id], isOpen: summary.id == opening, now: now)
    }
}
