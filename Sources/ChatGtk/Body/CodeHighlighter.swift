import CGtk
import CGtkSource
import ChatCore
import GtkKit

/// Highlights code with GtkSourceView's engine, in a buffer without a view.
///
/// The only view code that calls C: GtkKit does not link GtkSourceView, which only this application needs.
enum CodeHighlighter {
    /// The maximum length in bytes; longer code is not highlighted, because the engine runs on the main thread.
    static let maxLength = 20_000

    /// `false` where GtkSourceView cannot be loaded.
    private static let isReady: Bool = {
        gtk_source_init()
        return gtk_source_language_manager_get_default() != nil
    }()

    /// Common language names in code fences, and GtkSourceView's IDs for them.
    private static let names = [
        "bash": "sh", "shell": "sh", "zsh": "sh", "console": "sh", "javascript": "js", "jsx": "js", "node": "js",
        "ts": "typescript", "tsx": "typescript-jsx", "py": "python3", "python": "python3", "rs": "rust", "rb": "ruby",
        "c++": "cpp", "cxx": "cpp", "hpp": "cpp", "c#": "c-sharp", "cs": "c-sharp", "csharp": "c-sharp", "h": "chdr",
        "kt": "kotlin", "hs": "haskell", "yml": "yaml", "md": "markdown", "patch": "diff", "make": "makefile",
        "dockerfile": "docker", "tex": "latex", "pl": "perl", "objective-c": "objc", "golang": "go", "jsonc": "json",
        "ps1": "powershell", "vb": "vbnet", "f#": "fsharp", "fs": "fsharp", "gd": "gdscript",
    ]

    private static var cache = HighlightCache()

    /// Returns the highlights of code, or an empty array if the language is unknown or the code too long. For code that
    /// is not cached, this takes milliseconds on the main thread.
    static func highlights(of code: String, language: String, isDark: Bool) -> [CodeHighlight] {
        guard code.utf8.count <= maxLength else { return [] }
        return cache.highlights(of: HighlightCache.Key(code: code, language: language, isDark: isDark)) {
            computed(code, language, isDark)
        }
    }

    private static func computed(_ code: String, _ language: String, _ isDark: Bool) -> [CodeHighlight] {
        guard isReady, let language = sourceLanguage(language),
            let made = gtk_source_buffer_new_with_language(language)
        else { return [] }
        let buffer = TextBuffer(owning: made)
        let schemes = gtk_source_style_scheme_manager_get_default()
        let scheme = gtk_source_style_scheme_manager_get_scheme(schemes, isDark ? "Adwaita-dark" : "Adwaita")
        buffer.withRawPointer {
            gtk_source_buffer_set_highlight_matching_brackets($0, 0)
            gtk_source_buffer_set_style_scheme($0, scheme)
        }
        buffer.setText(code)
        buffer.withBounds { start, end in
            buffer.withRawPointer { gtk_source_buffer_ensure_highlight($0, start, end) }
        }
        return spans(from: buffer.start, in: code)
    }

    private static func sourceLanguage(_ name: String) -> UnsafeMutableRawPointer? {
        let manager = gtk_source_language_manager_get_default()
        return gtk_source_language_manager_get_language(manager, names[name] ?? name)
            ?? gtk_source_language_manager_guess_language(manager, "a.\(name)", nil)
    }

    /// Walks from one tag toggle to the next, converting character offsets to UTF-8 offsets.
    private static func spans(from start: TextIterator, in code: String) -> [CodeHighlight] {
        var spans: [CodeHighlight] = []
        var iterator = start
        let scalars = code.unicodeScalars
        var (index, scalarOffset, bytes) = (scalars.startIndex, 0, 0)
        while !iterator.isEnd {
            var highlight = CodeHighlight(range: bytes..<bytes)
            for tag in iterator.tags { read(tag, &highlight) }
            guard iterator.moveToTagToggle() || iterator.isEnd else { break }
            let next = iterator.offset
            guard next > scalarOffset,
                let end = scalars.index(index, offsetBy: next - scalarOffset, limitedBy: scalars.endIndex)
            else { break }
            let length = code.utf8.distance(from: index, to: end)
            highlight.range = bytes..<bytes + length
            if highlight.color != nil || highlight.isBold || highlight.isItalic { spans.append(highlight) }
            (index, scalarOffset, bytes) = (end, next, bytes + length)
        }
        return spans
    }

    /// Applies a tag's formatting to a highlight; later tags override earlier ones.
    private static func read(_ tag: TextTag, _ highlight: inout CodeHighlight) {
        if let color = tag.foreground { highlight.color = BodyColor(color) }
        if let isBold = tag.isBold { highlight.isBold = isBold }
        if let isItalic = tag.isItalic { highlight.isItalic = isItalic }
    }
}
