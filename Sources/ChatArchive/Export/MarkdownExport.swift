import ChatCore
import Foundation

/// Markdown that reads well as it stands. Each message is a quote, so that nothing in it reaches what follows.
struct MarkdownExport: ExportWriter {
    let times: ExportTimes
    private var day = ""

    init(times: ExportTimes) {
        self.times = times
    }

    func header(of room: ExportedRoom) -> String {
        let memberNames = room.members.filter { !$0.hasLeft }.map { Self.escaped($0.displayName) }.joined(
            separator: ", ")
        return "# \(Self.escaped(room.name))\n\n\(memberNames) · \(times.full(room.exportedAt))\n"
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
        // Made safe together: a fence behind a name is none.
        let name = message.kind == .emote ? "\\* \(Self.escaped(exported.senderName)) " : ""
        var lines = Self.safeLines(name + (message.isDeleted ? "_Message deleted_" : message.text))
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

    /// The lines of a text in which HTML is no markup, as it is none in the application.
    ///
    /// Only what is in a block of code for sure stays as it is: one whose fences are at the very beginning of their
    /// lines. From the first line on that may begin or end any other (in a list, say) all brackets are escaped.
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

    /// With each bracket that could open a tag or an address of its own escaped, and the backslash before it, too.
    ///
    /// By scalars, as Markdown is read: a mark that combines with a bracket leaves it one.
    private static func withoutTags(_ line: Substring) -> String {
        var result = String.UnicodeScalarView()
        var backslashes = 0
        for scalar in line.unicodeScalars {
            // An odd one escapes already.
            if scalar == "<", backslashes % 2 == 0 { result.append("\\") }
            backslashes = scalar == "\\" ? backslashes + 1 : 0
            result.append(scalar)
        }
        return String(result)
    }

    /// Text without any markup, on one line.
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
