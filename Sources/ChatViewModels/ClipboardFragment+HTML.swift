public import Composer
import MessageMarkup

nonisolated extension ClipboardFragment {
    /// What programs get that take formatted text: of what was composed, what it would be sent as.
    public var formattedText: String? { html ?? MessageMarkup.html(of: written) }
}
