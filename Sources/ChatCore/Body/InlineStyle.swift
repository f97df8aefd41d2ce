/// The character formatting of a run.
public struct InlineStyle: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let bold = InlineStyle(rawValue: 1)
    public static let italic = InlineStyle(rawValue: 2)
    public static let strike = InlineStyle(rawValue: 4)
    public static let underline = InlineStyle(rawValue: 8)
    public static let code = InlineStyle(rawValue: 16)
    public static let superscript = InlineStyle(rawValue: 32)
    public static let `subscript` = InlineStyle(rawValue: 64)
}
