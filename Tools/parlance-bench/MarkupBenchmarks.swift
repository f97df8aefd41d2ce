import ChatCore
import Composer
import Foundation
import Glibc
import MessageMarkup
import ToolSupport

/// The cost of parsing a message. The cost per byte must not depend on the message's length or form.
enum MarkupBenchmarks {
    /// - Parameter isLong: whether to also print each hostile text.
    static func rows(isLong: Bool = false) -> [BenchmarkRow] {
        let bodies = ["html", "markdown", "mixed", "plain", "sanitise", "edit", "written"].map { form in
            (form, measure(form) { sample(form, bytes: $0) })
        }
        let times = bodies.map { form, cost in
            // Editable text is parsed twice: in segments and as a whole.
            BenchmarkRow(
                name: "markup: \(form) of 100 kB", value: cost.time, unit: "ms of CPU",
                target: form == "edit" ? 100 : 20)
        }
        let growths = bodies.map { form, cost in
            BenchmarkRow(
                name: "markup: \(form), a byte of 10 MB to one of 100 kB", value: cost.growth, unit: "ratio",
                target: maxGrowth)
        }
        return times + growths + hostileRows(isLong: isLong)
    }

    /// Measured in CPU time, not instructions, since large texts exceed the caches. Quadratic growth would give 100.
    private static let maxGrowth = 3.0

    /// The slowest and the fastest growing of all ``HostileMarkup`` texts.
    private static func hostileRows(isLong: Bool) -> [BenchmarkRow] {
        let costs = HostileMarkup.all.map { shape in
            let name = "\(shape.isHTML ? "HTML" : "Markdown") \(shape.name)"
            let cost = measure(shape.isHTML ? "sanitise" : "markdown", shape.text)
            if isLong { print("\(name): \(cost.time) ms, \(cost.growth)") }
            return (name: name, time: cost.time, growth: cost.growth)
        }
        guard let slowest = costs.max(by: { $0.time < $1.time }), let worst = costs.max(by: { $0.growth < $1.growth })
        else { return [] }
        print("markup: the slowest is \(slowest.name), and \(worst.name) grows most")
        let all = "markup: worst of \(costs.count) made to be slow"
        return [
            BenchmarkRow(name: "\(all), 100 kB", value: slowest.time, unit: "ms of CPU", target: 20),
            BenchmarkRow(
                name: "\(all), a byte of 10 MB to one of 100 kB", value: worst.growth, unit: "ratio",
                target: maxGrowth),
        ]
    }

    /// Returns the milliseconds for 100 kB, and the cost of a byte of 10 MB relative to one of 100 kB.
    private static func measure(_ form: String, _ text: (Int) -> String) -> (time: Double, growth: Double) {
        let small = text(100_000)
        let time = (0..<7).map { _ in cpuMilliseconds { run(form, small) } }.min() ?? .infinity
        let large = text(10_000_000)
        let growth = ((0..<3).map { _ in cpuMilliseconds { run(form, large) } }.min() ?? .infinity) / time
        return (time, growth * Double(small.utf8.count) / Double(large.utf8.count))
    }

    /// Runs a workload by name, for ``Callgrind``.
    ///
    /// - Returns: `false` if there is no such workload.
    static func run(_ arguments: [String]) -> Bool {
        if arguments.first == "hostile", arguments.count == 4 {
            return runHostile(arguments[1], bytes: arguments[2], count: arguments[3])
        }
        guard let name = arguments.first, name.hasPrefix("markup-"), arguments.count == 3,
            let bytes = Int(arguments[1]), let count = Int(arguments[2])
        else { return false }
        let form = String(name.dropFirst(7))
        let text = sample(form, bytes: bytes)
        for _ in 0..<count { run(form, text) }
        return true
    }

    /// - Parameter name: the name of one of ``HostileMarkup``.
    private static func runHostile(_ name: String, bytes: String, count: String) -> Bool {
        guard let shape = HostileMarkup.all.first(where: { $0.name == name }), let bytes = Int(bytes),
            let count = Int(count)
        else { return false }
        let text = shape.text(bytes)
        for _ in 0..<count { run(shape.isHTML ? "sanitise" : "markdown", text) }
        return true
    }

    private static func run(_ form: String, _ text: String) {
        let blocks =
            switch form {
            case "markdown", "mixed": MessageMarkup.body(markdown: text).blocks.count
            case "plain": MessageMarkup.body(plain: text).blocks.count
            case "edit": MessageMarkup.written(html: text).text.marks.count
            case "written": MessageMarkup.html(of: written(text))?.utf8.count ?? 0
            case "sanitise": MessageMarkup.sanitized(html: text).utf8.count
            default: MessageMarkup.body(html: text).blocks.count
            }
        // Keep the result alive, or the optimizer may remove the work.
        withExtendedLifetime(blocks) {}
    }

    /// Returns `text` with a mention and a style of 500 UTF-16 units at every 1000th offset.
    private static func written(_ text: String) -> WrittenText {
        let offsets = stride(from: 0, to: text.utf16.count - 100, by: 1000)
        let marks = offsets.flatMap { offset in
            [
                WrittenText.Mark(.mention(.member("@ann:a.example")), over: TextRange(location: offset, length: 2)),
                WrittenText.Mark(.style(.underline), over: TextRange(location: offset, length: 500)),
            ]
        }
        return WrittenText(text, marks: marks) ?? WrittenText(text)
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
        "mixed": """
        ## Notes of the *meeting* with @Ann, 日本語 and ||a secret||

        Long words in a plain sentence without any marks at all, as most of what people write is; then some more of it.
        A second line, <b>HTML that is text</b> &amp; an entity, https://b.example/a_b?c=d and a `piece of code`.

        | Name | Amount |
        |------|-------:|
        | one  | **12** |

        1. first
           - [x] done
           > quoted **twice**\n\n
        """,
        "plain": "Words of a message that has no marks but an address, www.a.example, and 👍🏽 naïve letters.\n",
    ]

    private static func sample(_ form: String, bytes: Int) -> String {
        let pattern = samples[form == "written" ? "markdown" : form] ?? samples["html"] ?? ""
        return String(repeating: pattern, count: bytes / pattern.utf8.count + 1)
    }

    private static func cpuMilliseconds(_ work: () -> Void) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
        }
        let start = now()
        work()
        return now() - start
    }
}
