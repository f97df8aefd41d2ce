import ChatCore

@testable import MediaGtk

extension MediaTexts {
    /// Texts that consist of their arguments.
    @MainActor static let plain = MediaTexts(
        details: { "\($0.type)" }, duration: { "\($0) ms" }, problem: { "\($0)" },
        playButton: { $1 ? "Pause \($0.name)" : "Play \($0.name)" },
        position: { $1 > 1 ? "\($0 + 1) of \($1)" : nil })
}
