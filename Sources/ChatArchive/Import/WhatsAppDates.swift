import Foundation

/// Finds out in which order an export writes day, month and year: a day above 12 tells, or else the order in which time
/// goes on.
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
            // Clocks are set back at times, and days are not.
            if let before = last[order], number < before { jumps[order, default: 0] += 1 }
            last[order] = number
        }
    }

    /// The order that fits best; nil if none fits all lines.
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

    /// WhatsApp is of 2009, and Thai exports count years from the death of Buddha.
    private static func year(_ written: Int) -> Int {
        if written < 100 { return written + (written > 60 ? 1957 : 2000) }
        return written > 2500 ? written - 543 : written
    }
}
