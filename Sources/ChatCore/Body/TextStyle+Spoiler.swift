public import Composer

extension TextStyle {
    private static let spoilerName = "spoiler"

    /// A spoiler style. In contrast to `||…||` it can have a reason and span paragraphs.
    public static func spoiler(reason: String = "") -> TextStyle {
        .named(reason.isEmpty ? spoilerName : spoilerName + " " + reason)
    }

    /// The spoiler that the style stands for, if any.
    public var spoiler: Spoiler? {
        guard case .named(let name) = self, name.hasPrefix(Self.spoilerName) else { return nil }
        let rest = name.dropFirst(Self.spoilerName.count)
        guard let first = rest.first else { return Spoiler() }
        return first == " " ? Spoiler(reason: String(rest.dropFirst())) : nil
    }
}
