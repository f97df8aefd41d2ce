import ChatViewModels
import GtkKit

/// The actions for all failed messages, above the composer while there are several.
final class RetryBar {
    let widget: Revealer
    let retry = Button(label: translated("Retry All"))
    let discard = Button(label: translated("Discard All…"))
    var onRetry: (() -> Void)?
    var onDiscard: (() -> Void)?
    private let count = Label()

    init() {
        widget = Revealer(.slideUp)
        let bar = Box(.horizontal, spacing: 6)
        for style in ["toolbar", "failed-message"] { bar.addStyle(style) }
        let icon = Image(icon: "dialog-warning-symbolic")
        for child in [icon, count] { child.addStyle("error") }
        count.hexpand = true
        count.xalign = 0
        count.setEllipsize(.end)
        for button in [retry, discard] { button.addStyle("flat") }
        for child in [icon, count, retry, discard] { bar.append(child) }
        widget.setChild(bar)
        retry.onClick { [weak self] in self?.onRetry?() }
        discard.onClick { [weak self] in self?.onDiscard?() }
    }

    func show(_ state: TimelineViewModel.State) {
        // The text stays while the bar slides away.
        if state.showsRetryBar { count.text = MessageText.localized.failedCount(state.failedCount) }
        widget.isRevealed = state.showsRetryBar
    }
}
