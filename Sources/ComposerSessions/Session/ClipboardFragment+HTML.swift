public import Composer
import MessageMarkup

nonisolated extension ClipboardFragment {
    /// The HTML for other programs; for composed text, the HTML it would be sent as.
    public var formattedText: String? { html ?? MessageMarkup.html(of: written) }
}
