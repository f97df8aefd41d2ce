import CGtk
import CGtkSource
import ChatCore
import GtkKit

/// Highlights code with GtkSourceView's engine, in a buffer without a view.
enum CodeHighlighter {
    /// The maximum length in bytes; longer code is not highlighted, because the engine runs on the main thread.
    static let maxLength = 20_000

    private static let isReady: Bool = {
        gtk_source_init()
        return true
    }()

    /// Common names of languages after a code fence, and GtkSourceView's IDs for them.
    private static let names = [
        "bash": "sh", "shell": "sh", "zsh": "sh", "console": "sh", "javascript": "js", "jsx": "js", "node": "js",
        "ts": "typescript", "tsx": "typescript-jsx", "py": "python3", "python": "python3", "rs": "rust", "rb": "ruby",
        "c++": "cpp", "cxx": "cpp", "hpp": "cpp", "c#": "c-sharp", "cs": "c-sharp", "csharp": "c-sharp", "h": "chdr",
        "kt": "kotlin", "hs": "haskell", "yml": "yaml", "md": "markdown", "patch": "diff", "make": "makefile",
        "dockerfile": "docker", "tex": "latex", "pl": "perl", "objective-c": "objc", "golang": "go", "jsonc": "json",
        "ps1": "powershell", "vb": "vbnet", "f#": "fsharp", "fs": "fsharp", "gd": "gdscript",
    ]

    /// Returns the highlights of code, or an empty array if the language is unknown or the code too long. Takes
    /// milliseconds on the main thread.
    static func highlights(of code: String, language: String, isDark: Bool) -> [CodeHighlight] {
        guard isReady, code.utf8.count <= maxLength, let language = sourceLanguage(language),
            let made = gtk_source_buffer_new_with_language(language)
        else { return [] }
        let buffer = Object(owning: made)
        gtk_source_buffer_set_highlight_matching_brackets(made, 0)
        let schemes = gtk_source_style_scheme_manager_get_default()
        gtk_source_buffer_set_style_scheme(
            made, gtk_source_style_scheme_manager_get_scheme(schemes, isDark ? "Adwaita-dark" : "Adwaita"))
        gtk_text_buffer_set_text(buffer.cast(), code, Int32(code.utf8.count))
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_bounds(buffer.cast(), &start, &end)
        gtk_source_buffer_ensure_highlight(made, &start, &end)
        return spans(from: start, in: code)
    }

    private static func sourceLanguage(_ name: String) -> UnsafeMutableRawPointer? {
        let manager = gtk_source_language_manager_get_default()
        return gtk_source_language_manager_get_language(manager, names[name] ?? name)
            ?? gtk_source_language_manager_guess_language(manager, "a.\(name)", nil)
    }

    /// Walks from one tag toggle to the next, converting character offsets to UTF-8 offsets.
    private static func spans(from start: GtkTextIter, in code: String) -> [CodeHighlight] {
        var spans: [CodeHighlight] = []
        var iterator = start
        let scalars = code.unicodeScalars
        var (index, scalarOffset, bytes) = (scalars.startIndex, 0, 0)
        while gtk_text_iter_is_end(&iterator) == 0 {
            var highlight = CodeHighlight(range: bytes..<bytes)
            read(&iterator, &highlight)
            guard gtk_text_iter_forward_to_tag_toggle(&iterator, nil) != 0 || gtk_text_iter_is_end(&iterator) != 0
            else {
                break
            }
            let next = Int(gtk_text_iter_get_offset(&iterator))
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

    /// Reads the combined appearance of the tags at an iterator; later tags override earlier ones.
    private static func read(_ iterator: inout GtkTextIter, _ highlight: inout CodeHighlight) {
        let tags = gtk_text_iter_get_tags(&iterator)
        defer { g_slist_free(tags) }
        var next = tags
        while let link = next {
            if let data = link.pointee.data {
                let tag = Object(borrowing: data)
                if tag.isSet("foreground-set"), let color = tag.color("foreground-rgba") { highlight.color = color }
                if tag.isSet("weight-set") { highlight.isBold = tag.integer("weight") >= 600 }
                if tag.isSet("style-set") { highlight.isItalic = tag.enumeration("style") != 0 }
            }
            next = link.pointee.next
        }
    }
}

extension Object {
    fileprivate func isSet(_ name: String) -> Bool {
        property(name, shim_type_boolean()) { g_value_get_boolean($0) != 0 }
    }

    fileprivate func integer(_ name: String) -> Int32 { property(name, shim_type_int()) { g_value_get_int($0) } }

    fileprivate func enumeration(_ name: String) -> Int32 {
        property(name, pango_style_get_type()) { g_value_get_enum($0) }
    }

    fileprivate func color(_ name: String) -> BodyColor? {
        property(name, gdk_rgba_get_type()) { value in
            g_value_get_boxed(value).map { BodyColor($0.assumingMemoryBound(to: GdkRGBA.self).pointee) }
        }
    }

    private func property<R>(_ name: String, _ type: GType, _ read: (UnsafePointer<GValue>) -> R) -> R {
        var value = GValue()
        g_value_init(&value, type)
        defer { g_value_unset(&value) }
        g_object_get_property(cast(), name, &value)
        return read(&value)
    }
}
