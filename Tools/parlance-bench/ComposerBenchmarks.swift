import Composer
import ToolSupport

/// The cost of editing: a key press must not cost more in a longer text.
enum ComposerBenchmarks {
    static func rows() throws -> [BenchmarkRow] {
        var rows: [BenchmarkRow] = []
        var typed: [Int: Double] = [:]
        for (name, bytes) in [("100 B", 100), ("10 kB", 10_000), ("1 MB", 1_000_000)] {
            let cost = try Callgrind.instructions(per: "type", [String(bytes)], few: 50, many: 550)
            typed[bytes] = cost
            rows.append(
                BenchmarkRow(
                    name: "composer: typed character in \(name)", value: cost.rounded(), unit: "instructions",
                    target: 150_000))
        }
        let ratio = typed[1_000_000]! / typed[100]!
        rows.append(
            BenchmarkRow(name: "composer: typed character, 1 MB to 100 B", value: ratio, unit: "ratio", target: 1.3))
        let limited = try Callgrind.instructions(per: "type-limited", ["1000000"], few: 50, many: 550)
        rows.append(
            BenchmarkRow(
                name: "composer: typed character in 1 MB, with a counter", value: limited.rounded(),
                unit: "instructions",
                target: 250_000))
        for (name, bytes) in [("100 B", 100), ("1 MB", 1_000_000)] {
            let checked = try Callgrind.instructions(per: "type-checked", [String(bytes)], few: 50, many: 550)
            rows.append(
                BenchmarkRow(
                    name: "composer: typed character in \(name), spelling checked to not",
                    value: checked / typed[bytes]!,
                    unit: "ratio", target: 1.5))
        }
        let paste = try Callgrind.instructions(per: "paste", few: 0, many: 1)
        rows.append(
            BenchmarkRow(
                name: "composer: paste of 1 MB", value: paste.rounded(), unit: "instructions", target: 500_000_000))
        let undo = try Callgrind.instructions(per: "undo", few: 0, many: 200)
        rows.append(
            BenchmarkRow(
                name: "composer: undo of a word in 1 MB", value: undo.rounded(), unit: "instructions", target: 250_000))
        return rows
    }

    /// Runs a workload by name, for ``Callgrind``.
    ///
    /// - Returns: `false` if there is no such workload.
    static func run(_ arguments: [String]) -> Bool {
        let numbers = arguments.dropFirst().compactMap { Int($0) }
        switch (arguments.first, numbers.count) {
        case ("type", 2): type(numbers[1], inTextOf: numbers[0])
        case ("type-limited", 2): type(numbers[1], inTextOf: numbers[0], limit: 2_000_000)
        case ("type-checked", 2): type(numbers[1], inTextOf: numbers[0], isChecked: true)
        case ("paste", 1): paste(numbers[0])
        case ("undo", 1): undo(numbers[0])
        default: return false
        }
        return true
    }

    /// Returns prose with line breaks and non-ASCII letters.
    private static func prose(bytes: Int) -> String {
        let line = "Words of a long message, naïve and plain, go on and on.\n"
        return String(String(repeating: line, count: bytes / line.utf8.count + 1).prefix(bytes))
    }

    private static func composer(bytes: Int, limit: Int? = nil) -> ComposerEngine {
        var configuration = ComposerConfiguration()
        configuration.characterLimit = limit
        var engine = ComposerEngine(configuration: configuration)
        let text = prose(bytes: bytes)
        let middle = TextRange.caret(text.utf16.count / 2)
        _ = engine.handle(.load(WrittenText(text), selection: middle), at: .zero)
        return engine
    }

    /// Types like a user: one event per key, and then the window reads the state.
    private static func type(_ count: Int, inTextOf bytes: Int, limit: Int? = nil, isChecked: Bool = false) {
        var engine = composer(bytes: bytes, limit: limit)
        if isChecked { checkSpelling(&engine) }
        let keys = Array("words and ")
        for key in 0..<count {
            let now = Duration.seconds(1000) + .milliseconds(key * 100)
            let effects = engine.handle(.insert(String(keys[key % keys.count]), origin: .typed), at: now)
            if isChecked { answer(effects, &engine, at: now) }
            guard engine.state.length > 0 else { return }
        }
    }

    /// Checks the whole text. A word of each line is misspelled.
    private static func checkSpelling(_ engine: inout ComposerEngine) {
        answer(engine.handle(.checkSpelling(true), at: .zero), &engine, at: .zero)
        while let deadline = engine.nextDeadline { answer(engine.advance(to: deadline), &engine, at: deadline) }
    }

    private static func answer(_ effects: [ComposerEffect], _ engine: inout ComposerEngine, at now: Duration) {
        for case .checkSpelling(let request) in effects {
            let misspelled = Set(request.words.filter { $0 == "naïve" })
            answer(
                engine.handle(.spellingChecked(request: request.id, misspelled: misspelled), at: now), &engine, at: now)
        }
    }

    private static func paste(_ count: Int) {
        var engine = composer(bytes: 10_000)
        let text = prose(bytes: 1_000_000)
        for _ in 0..<count { _ = engine.handle(.paste([.text(text)]), at: .zero) }
    }

    private static func undo(_ count: Int) {
        var engine = composer(bytes: 1_000_000)
        for _ in 0..<250 {
            for key in ["w", " "] { _ = engine.handle(.insert(key, origin: .typed), at: .zero) }
        }
        for _ in 0..<count { _ = engine.handle(.undo, at: .zero) }
    }
}
