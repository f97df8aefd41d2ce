import Composer
public import Foundation
import JSONReading

/// Drives a composer by JSON Lines: one line in, one line out.
///
/// Time is virtual and advances only with the verb `advance`. A line that fails returns
/// `{"error": …, "line": N}` and changes nothing.
///
/// A class, so that its layout stays private to this module and incremental builds can't use a stale one.
public final class ReplayDriver {
    /// Whether any line failed.
    public private(set) var hasFailed = false

    private var lineNumber = 0
    private var player = ReplayPlayer()

    public init() {}

    /// Executes a line.
    ///
    /// - Parameter line: JSON in UTF-8, without the line feed.
    /// - Returns: the response, without a line feed.
    public func response(to line: Data) -> String {
        lineNumber += 1
        do {
            guard case .object(let object) = try parse(line), object.count == 1, let (verb, argument) = object.first
            else {
                throw ReplayError("expected an object with one verb")
            }
            return try player.perform(verb, Argument(argument)).json
        } catch {
            hasFailed = true
            return errorResponse((error as? ReplayError)?.message ?? "\(error)")
        }
    }

    private func parse(_ line: Data) throws -> JSONValue {
        do {
            // Strict, as a trace that would need repair is damaged. A line is the user's own and may have any length.
            return try JSONValue(parsing: line, isStrict: true, maxBytes: .max)
        } catch {
            throw ReplayError("malformed JSON")
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
