import Composer
public import Foundation

/// The composer driven by JSON Lines: one line in, one line out.
///
/// It has a virtual clock, so that no time passes but by `advance`. A line that can't be carried out answers
/// `{"error": …, "line": N}` and changes nothing.
/// A class, so that what it holds is laid out in this module alone: a program built in steps then never has an old layout.
public final class ReplayDriver {
    /// Whether any line was in error.
    public private(set) var hasFailed = false

    private var lineNumber = 0
    private var player = ReplayPlayer()

    public init() {}

    /// Carries a line out.
    ///
    /// - Parameter line: JSON in UTF-8, without the line feed.
    /// - Returns: the answer, without a line feed.
    public func response(to line: Data) -> String {
        lineNumber += 1
        do {
            guard let value = JSONValue.parse(line) else { throw ReplayError("malformed JSON") }
            guard case .object(let object) = value, object.count == 1, let (verb, argument) = object.first else {
                throw ReplayError("expected an object with one verb")
            }
            return try player.perform(verb, Argument(argument)).json
        } catch {
            hasFailed = true
            return errorResponse((error as? ReplayError)?.message ?? "\(error)")
        }
    }

    private func errorResponse(_ message: String) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("error")
            writer.string(message)
            writer.key("line")
            writer.integer(lineNumber)
        }
        return writer.text
    }
}
