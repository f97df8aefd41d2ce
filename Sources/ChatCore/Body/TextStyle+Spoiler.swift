public import Composer

extension TextStyle {
    private static let spoilerName = "spoiler"

    /// Covers text until its readers ask for it; beside `||…||` it takes a reason, and covers more than a paragraph.
    public static func spoiler(reason: String = "") -> TextStyle {
        .named(reason.isEmpty ? spoilerName : spoilerName + " " + reason)
    }

    /// What the style covers text with, if it is one that does.
    public var spoiler: Spoiler? {
        guard case .named(let name) = self, name.hasPrefix(Self.spoilerName) else { return nil }
        let rest = name.dropFirst(Self.spoilerName.count)
        guard let first = rest.first else { return Spoiler() }
        return first == " " ? Spoiler(reason: String(rest.dropFirst())) : nil
    }
}
