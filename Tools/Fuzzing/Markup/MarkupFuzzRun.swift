/// Parses random messages and checks the invariants after each.
public enum MarkupFuzzRun {
    /// - Parameter steps: the maximum number of messages.
    /// - Returns: the number of messages, and the violated invariant, if any.
    public static func run(_ source: some ByteSource, steps: Int) -> (steps: Int, violation: String?) {
        var markup = RandomMarkup(source)
        var done = 0
        while done < steps {
            if done % 4 == 3 {
                guard let written = markup.nextWritten() else { break }
                if let broken = MarkupInvariants.violation(of: written) {
                    return (done, "\(written): \(broken)")
                }
                done += 1
                continue
            }
            let isHTML = !done.isMultiple(of: 3)
            guard let text = markup.next(isHTML: isHTML) else { break }
            if let broken = MarkupInvariants.violation(of: text, isHTML: isHTML) {
                return (done, "\(isHTML ? "HTML" : "Markdown") \(text.debugDescription): \(broken)")
            }
            done += 1
        }
        return (done, nil)
    }
}
