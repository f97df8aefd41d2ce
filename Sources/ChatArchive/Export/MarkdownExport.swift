import ChatCore
import Foundation

/// Writes readable Markdown. Each message is a block quote, so its markup cannot affect what follows.
struct MarkdownExport: ExportWriter {
    let times: ExportTimes
    private var day = ""

    init(times: ExportTimes) {
        self.times = times
    }

    func header(of room: ExportedRoom) -> String {
        let memberNames = room.members.filter { !$0.hasLeft }.map { Self.escaped($0.displayName) }.joined(
            separator: ", ")
        let warning = room.warning.map { "\n**\($0)**\n" } ?? ""
        return "# \(Self.escaped(room.name))\n\n\(memberNames) · \(times.full(room.exportedAt))\n\(warning)"
    }

    mutating func text(of exported: ExportedMessage) -> String {
        let message = exported.message
        var text = ""
        let day = times.day(message.sentAt)
        if day != self.day {
            self.day = day
            text += "\n## \(day)\n"
        }
        if let happened = exported.happened {
            return text + "\n_\(Self.escaped(happened))_ \(times.time(message.sentAt))\n"
        }
        var states: [String] = []
        if message.replyTo != nil { states.append("in reply") }
        if message.editedAt != nil { states.append("edited") }
        let state = states.isEmpty ? "" : " _(\(states.joined(separator: ", ")))_"
        text += "\n**\(Self.escaped(exported.senderName))** \(times.time(message.sentAt))\(state)\n\n"
        // Escape both together: a fence after the name does not open a code block.
        let name = message.kind == .emote ? "\\* \(Self.escaped(exported.senderName)) " : ""
        var lines = Self.safeLines(name + (exported.placeholder.map { "_\($0)_" } ?? exported.markdown))
        if let outdated = exported.outdated { lines += ["", "_\(outdated)_"] }
        lines += exported.files.map(Self.file)
        if !exported.reactions.isEmpty {
            lines += [
                "", exported.reactions.map { "\(Self.escaped($0.text)) \($0.names.count)" }.joined(separator: " · "),
            ]
        }
        return text + lines.map { $0.isEmpty ? ">" : "> " + $0 }.joined(separator: "\n") + "\n"
    }

    func ending() -> String { "" }

    private static func file(_ file: ExportedMessage.File) -> String {
        let name = escaped(file.media.altText ?? file.media.name)
        guard let path = file.path.map(HTMLExport.address) else { return name }
        return file.media.messageKind == .image ? "![\(name)](\(path))" : "[\(name)](\(path))"
    }

    /// Returns the lines of a text with HTML escaped, since the application does not interpret HTML in messages
    /// either.
    ///
    /// Only code blocks that are certain to be ones, with fences that are not indented, stay unescaped. After the
    /// first line that may open or close another code block, as in a list, all `<` are escaped.
    static func safeLines(_ text: String) -> [String] {
        var fence: CodeFence?
        var isSure = true
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line in
            guard isSure else { return withoutTags(line) }
            if let open = fence {
                if open.isClosed(by: line) { fence = nil } else { isSure = !open.mayBeClosed(by: line) }
                return isSure ? String(line) : withoutTags(line)
            }
            fence = CodeFence(opening: line)
            isSure = fence != nil || !CodeFence.mayOpen(in: line)
            return withoutTags(line)
        }
    }

    /// Escapes each `<`, which could open a tag or an autolink, unless an odd number of backslashes precedes it.
    ///
    /// Compares scalars, not characters, as Markdown parsers do: `<` with a combining mark is still a bracket.
    private static func withoutTags(_ line: Substring) -> String {
        var result = String.UnicodeScalarView()
        var backslashes = 0
        for scalar in line.unicodeScalars {
            // An odd number of backslashes escapes the bracket already.
            if scalar == "<", backslashes % 2 == 0 { result.append("\\") }
            backslashes = scalar == "\\" ? backslashes + 1 : 0
            result.append(scalar)
        }
        return String(result)
    }

    /// Returns text on one line with all markup characters escaped.
    static func escaped(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .joined(separator: " ").unicodeScalars
        {
            if "\\`*_{}[]()#+-.!|<>~&@:$^=".unicodeScalars.contains(scalar) { result.append("\\") }
            result.append(scalar)
        }
        return String(result)
    }
}
