public import Composer

/// Replaces a short code with its emoji when the closing colon is typed: `:tada:`, or `:skin-tone-3:` after an
/// emoji.
///
/// Undo restores the code with its colon. Markdown code, times and URLs are left alone.
public nonisolated struct EmojiCodeController: ComposerInputController {
    public let name = "emoji codes"
    private let library: EmojiLibrary
    /// How many UTF-16 code units to search back for the opening colon; the longest codes have about 60.
    private static let reach = 80

    public init(library: EmojiLibrary) {
        self.library = library
    }

    public func control(_ event: ComposerEvent, in engine: ComposerEngine) -> InputControl {
        guard let caret = Self.closing(event, engine), engine.state.preedit.isEmpty else { return .pass }
        guard let catalog = library.contents?.catalog else {
            // This is the opening colon; the catalog is loaded by the time of the closing one. If it can't be loaded, the
            // code stays as it was typed.
            Task { [library] in _ = try? await library.loaded() }
            return .pass
        }
        let start = engine.document.clusterStart(at: max(0, caret - Self.reach))
        let head = engine.document.text(in: TextRange(start: start, end: caret))
        guard let colon = head.lastIndex(of: ":") else { return .pass }
        let code = head[head.index(after: colon)...]
        guard !code.isEmpty, code.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "_+-".contains($0)) })
        else { return .pass }
        let before = head[..<colon]
        var location = caret - code.utf16.count - 1
        var emoji: String?
        if let tone = SkinTone(code: code), let last = before.last.map({ String($0) }) {
            emoji = catalog.emoji(text: last).flatMap { $0.tones == .none ? nil : $0.text(in: tone) }
            location -= last.utf16.count
        } else if before.last.map({ !$0.isLetter && !$0.isNumber && !"/:".contains($0) }) ?? (start == location) {
            emoji = catalog.emoji(code: code.lowercased())?.text(in: library.tone)
        }
        guard let emoji, !engine.writesCode(at: caret) else { return .pass }
        Task { @MainActor [library] in library.noteUse(of: emoji) }
        return .append([.edit(TextRange(start: location, end: caret + 1), replacement: emoji, origin: .typed)])
    }

    /// The offset of a colon typed without a selection.
    private static func closing(_ event: ComposerEvent, _ engine: ComposerEngine) -> Int? {
        switch event {
        case .edit(let range, ":", .typed) where range.isEmpty: range.location
        case .insert(":", .typed) where engine.selection.isEmpty: engine.selection.location
        default: nil
        }
    }
}
