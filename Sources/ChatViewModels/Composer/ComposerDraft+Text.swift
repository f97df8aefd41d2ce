import Composer

extension ComposerDraft {
    /// What is being written, and the new message that waits while a sent one is edited.
    var contents: [Content] { [content] + [stash].compactMap { $0 } }

    /// The text, after that of an unfinished edit; empty if there is none.
    var text: String {
        contents.map(\.written.source).filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: "\n\n")
    }

    /// Whether the new message ends with a text, on lines of its own.
    func endsWithLines(_ text: String) -> Bool {
        let content = mode == .compose ? content : stash
        guard let source = content?.written.source else { return false }
        // The composer drops NUL.
        let lines = text.replacing("\0", with: "")
        return source == lines || source.hasSuffix("\n" + lines)
    }
}
