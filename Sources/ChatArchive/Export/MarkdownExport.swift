import ChatCore
import Foundation

/// Markdown that reads well as it stands. Each message is a quote, so that nothing in it reaches what follows.
struct MarkdownExport: ExportWriter {
    let times: ExportTimes
    private var day = ""

    init(times: ExportTimes) {
        self.times = times
    }

    func beginning(of room: ExportedRoom) -> String {
        let people = room.members.filter { !$0.hasLeft }.map { Self.escaped($0.displayName) }.joined(separator: ", ")
        return "# \(Self.escaped(room.name))\n\n\(people) · \(times.full(room.exportedAt))\n"
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
        var lines = Self.safeLines(message.isDeleted ? "_Message deleted_" : message.text)
        if message.kind == .emote, let first = lines.first {
            lines[0] = "\\* \(Self.escaped(exported.senderName)) \(first)"
        }
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
    /// Only a fence at the very beginning of a line opens code for sure: elsewhere a list or quote may end before it.
    static func safeLines(_ text: String) -> [String] {
        var fence: (mark: Character, length: Int)?
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line in
            let mark = line.first
            let length = mark == "`" || mark == "~" ? line.prefix { $0 == mark }.count : 0
            let rest = line.dropFirst(length)
            if let open = fence {
                if mark == open.mark, length >= open.length, rest.allSatisfy(\.isWhitespace) { fence = nil }
                return String(line)
            }
            if let mark, length >= 3, mark == "~" || !rest.contains("`") {
                fence = (mark, length)
                return String(line.prefix(length)) + withoutTags(rest)
            }
            return withoutTags(line)
        }
    }

    /// With each bracket that could open a tag or an address of its own escaped, and the backslash before it, too.
    private static func withoutTags(_ line: Substring) -> String {
        var result = ""
        var backslashes = 0
        for character in line {
            if character == "<" {
                // An odd one escapes already.
                if backslashes % 2 == 0 { result.append("\\") }
            }
            backslashes = character == "\\" ? backslashes + 1 : 0
            result.append(character)
        }
        return result
    }

    /// Text without any markup, on one line.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            if character.isNewline {
                result += " "
            } else {
                if "\\`*_{}[]()#+-.!|<>~&@:$^=".contains(character) { result.append("\\") }
                result.append(character)
            }
        }
        return result
    }
}
