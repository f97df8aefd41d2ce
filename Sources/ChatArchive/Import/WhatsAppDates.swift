import Foundation

/// Detects the order of day, month and year in an export: by a day above 12, or by the order with the fewest steps back
/// in time.
struct WhatsAppDates {
    enum Order: CaseIterable { case dayFirst, monthFirst, yearFirst }

    private var isImpossible: Set<Order> = []
    private var jumps: [Order: Int] = [:]
    private var last: [Order: Int] = [:]
    private var isTwelveHours = false
    private var separator: Unicode.Scalar = "/"
    private(set) var lines = 0

    mutating func note(_ line: WhatsAppLine) {
        lines += 1
        if line.isTwelveHours { isTwelveHours = true }
        separator = line.separator
        for order in Order.allCases where !isImpossible.contains(order) {
            guard let (year, month, day) = Self.components(of: line, order), (1...12).contains(month),
                (1...31).contains(day)
            else {
                isImpossible.insert(order)
                continue
            }
            let number = (year * 12 + month) * 31 + day
            // Clocks may be set back, but not by a day.
            if let before = last[order], number < before { jumps[order, default: 0] += 1 }
            last[order] = number
        }
    }

    /// The most plausible order, or `nil` if none is possible for all lines.
    var order: Order? {
        let possible = Order.allCases.filter { !isImpossible.contains($0) }
        let minJumps = possible.map { jumps[$0, default: 0] }.min()
        let best = possible.filter { jumps[$0, default: 0] == minJumps }
        if best.count > 1, isTwelveHours, separator == "/", best.contains(.monthFirst) { return .monthFirst }
        return best.first
    }

    static func components(of line: WhatsAppLine, _ order: Order) -> (year: Int, month: Int, day: Int)? {
        let day = line.day
        let components: (year: Int, month: Int, day: Int)
        switch order {
        case .dayFirst: components = (day[2], day[1], day[0])
        case .monthFirst: components = (day[2], day[0], day[1])
        case .yearFirst: components = (day[0], day[1], day[2])
        }
        guard line.hasYearFirst == (order == .yearFirst) else { return nil }
        return (year(components.year), components.month, components.day)
    }

    /// Expands a two-digit year. WhatsApp was founded in 2009, and Thai exports use the Buddhist calendar, which is 543
    /// years ahead.
    private static func year(_ written: Int) -> Int {
        if written < 100 { return written + (written > 60 ? 1957 : 2000) }
        return written > 2500 ? written - 543 : written
    }
}
