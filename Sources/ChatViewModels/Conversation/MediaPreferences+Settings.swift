public import ChatCore

extension MediaPreferences {
    /// - Parameters:
    ///   - choice: returns the setting named ``Kind/setting``.
    ///   - megabytes: the size up to which media count as small.
    public nonisolated init(choice: (String) -> String, megabytes: Int, playsAnimations: Bool) {
        self.init(
            choices: Dictionary(
                uniqueKeysWithValues: Kind.allCases.map { kind in
                    // A value of a newer version: load nothing automatically.
                    (kind, Choice(rawValue: choice(kind.setting)) ?? .never)
                }),
            smallBytes: megabytes * 1_000_000, playsAnimations: playsAnimations)
    }
}

extension MediaPreferences.Kind {
    /// The setting's name.
    public nonisolated var setting: String { "automatic-\(rawValue)" }
}
