package import Composer
import ComposerSessions
import Foundation
package import GtkKit

/// Reads and writes the desktop's clipboard: plain text, and the composer's own format, which preserves mentions
/// (HKW-29, SLK-36).
package enum Clipboard {
    package static func write(_ fragment: ClipboardFragment, of widget: Widget) {
        widget.clipboard.setContent(fragment.provider)
    }

    /// Calls `completion` with the clipboard's usable content in order of preference, or with an empty array.
    /// Asynchronous unless it is a selection of this program: the data may come from another process.
    ///
    /// - Parameters:
    ///   - asPlainText: Whether to ignore everything but text.
    ///   - isSelection: Whether to read the primary selection, which the middle button pastes.
    static func read(
        of widget: Widget, asPlainText: Bool = false, isSelection: Bool = false,
        _ completion: @escaping @MainActor ([PasteOffer]) -> Void
    ) {
        let content = isSelection ? ContentOffer.primarySelection(of: widget) : ContentOffer.clipboard(of: widget)
        guard let content else { return completion([]) }
        if isSelection, let data = content.selection(as: ClipboardFragment.mediaType),
            let fragment = try? ClipboardFragment.decode(data)
        {
            return completion([.fragment(fragment)])
        }
        guard !asPlainText, content.offers(ClipboardFragment.mediaType) else { return readText(content, completion) }
        content.readData(ClipboardFragment.mediaType) { result in
            // Any program may offer this type: fall back to text if the data cannot be read or decoded.
            guard let data = try? result.get(), let fragment = try? ClipboardFragment.decode(data) else {
                return readText(content, completion)
            }
            completion([.fragment(fragment)])
        }
    }

    private static func readText(_ content: ContentOffer, _ completion: @escaping @MainActor ([PasteOffer]) -> Void) {
        content.readText { completion($0.map { [.text($0)] } ?? []) }
    }
}

extension ClipboardFragment {
    /// A content provider with the composer's own format, HTML and plain text, for the clipboard and drags.
    var provider: ContentProvider {
        var forms: [(type: String, data: Data)] = []
        // Without the composer's own format, text and HTML are still offered.
        if let encodedFragment = try? encoded() { forms.append((Self.mediaType, encodedFragment)) }
        if let html = formattedText { forms.append(("text/html", Data(html.utf8))) }
        return ContentProvider(text: text, data: forms)
    }
}
