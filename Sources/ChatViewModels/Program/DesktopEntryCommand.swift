/// The `Exec` line of a desktop file (Desktop Entry Specification, "The Exec key").
public nonisolated struct DesktopEntryCommand: Equatable, Sendable {
    public var program: String
    public var arguments: [String]

    public init(_ program: String, _ arguments: [String] = []) {
        (self.program, self.arguments) = (program, arguments)
    }

    /// The value of the key.
    public var exec: String { ([program] + arguments).map { Self.quoted($0) }.joined(separator: " ") }

    /// Between quotation marks, `"`, `` ` ``, `$` and `\` are escaped; `%` begins a field code everywhere; and the
    /// value of a key escapes backslashes itself, so that each of them is written twice.
    private static func quoted(_ argument: String) -> String {
        guard argument.contains(where: { !isPlain($0) }) || argument.isEmpty else { return argument }
        var text = ""
        for character in argument {
            switch character {
            case "\"", "`", "$": text += "\\\\" + String(character)
            case "\\": text += "\\\\\\\\"
            case "%": text += "%%"
            // The value of a key is one line.
            case "\n": text += "\\n"
            default: text.append(character)
            }
        }
        return "\"" + text + "\""
    }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "-_/.=+:@,".contains(character))
    }
}
