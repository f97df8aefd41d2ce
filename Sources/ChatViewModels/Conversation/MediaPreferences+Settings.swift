public import ChatCore

extension MediaPreferences {
    /// - Parameters:
    ///   - choice: returns the setting with a name, see ``Kind/setting``.
    ///   - megabytes: the size up to which media count as small.
    public nonisolated init(choice: (String) -> String, megabytes: Int, playsAnimations: Bool) {
        self.init(
            choices: Dictionary(
                uniqueKeysWithValues: Kind.allCases.map { kind in
                    // A choice that a newer version added: load nothing that was not asked for.
                    (kind, Choice(rawValue: choice(kind.setting)) ?? .never)
                }),
            smallBytes: megabytes * 1_000_000, playsAnimations: playsAnimations)
    }
}

extension MediaPreferences.Kind {
    /// The name of the setting.
    public nonisolated var setting: String { "automatic-\(rawValue)" }
}
