/// The `Exec` line of a desktop file (Desktop Entry Specification, "The Exec key").
public nonisolated struct DesktopEntryCommand: Equatable, Sendable {
    public var program: String
    public var arguments: [String]

    public init(_ program: String, _ arguments: [String] = []) {
        (self.program, self.arguments) = (program, arguments)
    }

    /// The key's value.
    public var exec: String { ([program] + arguments).map { Self.quoted($0) }.joined(separator: " ") }

    /// Quotes an argument and escapes `"`, `` ` ``, `$` and `\`; `%`, which starts a field code, is doubled. Since
    /// values escape backslashes as well, each backslash is written twice.
    private static func quoted(_ argument: String) -> String {
        guard argument.contains(where: { !isPlain($0) }) || argument.isEmpty else { return argument }
        var text = ""
        for character in argument {
            switch character {
            case "\"", "`", "$": text += "\\\\" + String(character)
            case "\\": text += "\\\\\\\\"
            case "%": text += "%%"
            // A value has a single line.
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
