import BenchmarkReport
import ChatCore
import Foundation
import Glibc
import MessageMarkup

/// What reading a message costs: the same a byte, whatever its length and form.
enum MarkupBenchmarks {
    static func rows() throws -> [BenchmarkRow] {
        var rows: [BenchmarkRow] = []
        for form in ["html", "markdown", "sanitise"] {
            let text = sample(form, bytes: 100_000)
            let time = (0..<7).map { _ in cpuMilliseconds { run(form, text) } }.min() ?? .infinity
            rows.append(BenchmarkRow(name: "markup: \(form) of 100 kB", value: time, unit: "ms of CPU", target: 20))
        }
        for form in ["html", "markdown", "nested"] {
            let small = try cost(form, bytes: 100_000)
            let large = try cost(form, bytes: 10_000_000)
            rows.append(
                BenchmarkRow(
                    name: "markup: \(form), a byte of 10 MB to one of 100 kB", value: large / small, unit: "ratio",
                    target: 1.3))
        }
        return rows
    }

    /// Instructions a byte.
    private static func cost(_ form: String, bytes: Int) throws -> Double {
        try Callgrind.instructions(per: "markup-\(form)", [String(bytes)], few: 0, many: 1) / Double(bytes)
    }

    /// Runs a workload by name, for ``Callgrind``.
    ///
    /// - Returns: false if there is no such workload.
    static func run(_ arguments: [String]) -> Bool {
        guard let name = arguments.first, name.hasPrefix("markup-"), arguments.count == 3,
            let bytes = Int(arguments[1]), let count = Int(arguments[2])
        else { return false }
        let form = String(name.dropFirst(7))
        let text = sample(form, bytes: bytes)
        for _ in 0..<count { run(form, text) }
        return true
    }

    private static func run(_ form: String, _ text: String) {
        let blocks =
            switch form {
            case "markdown": MessageMarkup.body(markdown: text).blocks.count
            case "sanitise": MessageMarkup.sanitised(html: text).utf8.count
            default: MessageMarkup.body(html: text).blocks.count
            }
        precondition(blocks > 0)
    }

    private static let samples = [
        "html": """
        <p>Words of a <b>long</b> message, na&iuml;ve and <em>plain</em>, with <a href="https://a.example/x?y=1&amp;z=2">a \
        link</a> and <code>code</code>.</p><ul><li>one</li><li>two<ol start="3"><li>three</li></ol></li></ul>
        <blockquote><p>quoted <span data-mx-color="#ff0000">red</span></p></blockquote>
        <pre><code class="language-swift">let a = b &lt; c</code></pre>\n
        """,
        "markdown": """
        Words of a **long** message, naïve and *plain*, with [a link](https://a.example/x?y=1) and `code`.

        - one
        - two ~~three~~ https://b.example

        > quoted

        ```swift
        let a = b < c
        ```\n\n
        """,
        "nested": "<div><b>",
    ]

    private static func sample(_ form: String, bytes: Int) -> String {
        let piece = samples[form] ?? samples["html"] ?? ""
        let text = String(repeating: piece, count: bytes / piece.utf8.count + 1)
        return form == "nested" ? text + "x" : text
    }

    private static func cpuMilliseconds(_ work: () -> Void) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
        }
        let start = now()
        work()
        return now() - start
    }
}
