import CGtk
import ChatCore
import ChatViewModels
import Foundation
import GtkKit

/// The progress of an export or import, with a cancel button and the final report.
final class TransferDialog {
    let window: Widget
    private let viewModel: TransferViewModel
    private let heading = Label()
    private let text = Label()
    private let bar = Widget(sinking: gtk_progress_bar_new())
    private let report = Label()
    private let reportScroller = ScrolledWindow(sinking: gtk_scrolled_window_new())
    private let cancel = Button(sinking: gtk_button_new_with_mnemonic(translated("_Cancel")))
    private let newRoom = Button(sinking: gtk_button_new_with_mnemonic(translated("_New Room")))
    private let merge = Button(sinking: gtk_button_new_with_mnemonic(translated("_Merge")))
    private let show = Button(sinking: gtk_button_new_with_mnemonic(translated("_Open")))
    private let close = Button(sinking: gtk_button_new_with_mnemonic(translated("_Close")))
    private var rendering: Rendering?
    private var isAsking = false

    /// Presents the dialog and starts the transfer. The dialog retains itself until it is closed, which is possible
    /// only after the transfer has ended.
    @discardableResult
    static func present(_ viewModel: TransferViewModel, over parent: Widget) -> TransferDialog {
        let dialog = TransferDialog(viewModel, over: parent)
        let retained = RetainedWidgets([dialog])
        dialog.window.intercept("close-request") { [weak viewModel] _ in
            guard viewModel?.state.isOver != false else {
                viewModel?.send(.cancel)
                return true
            }
            retained.end()
            return false
        }
        viewModel.start()
        gtk_window_present(dialog.window.cast())
        return dialog
    }

    private init(_ viewModel: TransferViewModel, over parent: Widget) {
        self.viewModel = viewModel
        window = Widget(sinking: adw_window_new())
        gtk_window_set_transient_for(window.cast(), parent.cast())
        gtk_window_set_modal(window.cast(), 1)
        gtk_window_set_default_size(window.cast(), 400, -1)
        build()
        cancel.onClick { [weak viewModel] in viewModel?.send(.cancel) }
        close.onClick { [weak window] in window?.closeWindow() }
        newRoom.onClick { [weak viewModel] in viewModel?.send(.decide(.newRooms)) }
        merge.onClick { [weak viewModel] in viewModel?.send(.decide(.merge)) }
        show.onClick { [weak self] in self?.open() }
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        keys.intercept("key-pressed") { [weak window] arguments in
            guard Int32(bitPattern: arguments.uint(0)) == GDK_KEY_Escape, let window else { return false }
            window.closeWindow()
            return true
        }
        window.addController(keys)
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    var headingText: String { heading.text }
    var bodyText: String { text.text }
    var reportText: String { reportScroller.isVisible ? report.text : "" }
    var cancelButton: Button { cancel }
    var choiceButtons: [Button] { [newRoom, merge] }

    private func open() {
        switch viewModel.state.phase {
        case .exported(let report):
            AsyncCall.start {
                g_app_info_launch_default_for_uri_async(report.folder.absoluteString, nil, nil, $0, $1)
            } _: { _, result in
                _ = g_app_info_launch_default_for_uri_finish(result, nil)
            }
        case .imported: viewModel.send(.showImported)
        default: break
        }
        window.closeWindow()
    }

    private func render(_ state: TransferViewModel.State) {
        heading.text = TransferText(.desktop).title(state)
        window.setProperty("title", heading.text)
        text.text = TransferText(.desktop).body(state.phase)
        text.isVisible = !text.text.isEmpty
        bar.isVisible = !state.isOver && !state.isAsking
        if case .running(let progress) = state.phase, let fraction = progress.fraction {
            gtk_progress_bar_set_fraction(bar.cast(), fraction)
        }
        cancel.isVisible = !state.isOver
        cancel.isSensitive = state.canCancel
        close.isVisible = state.isOver
        for button in choiceButtons { button.isVisible = state.isAsking }
        if case .asking(let earlierImports) = state.phase {
            gtk_button_set_label(newRoom.cast(), TransferText(.desktop).newRooms(earlierImports.count))
            if !isAsking { merge.grabFocus() }
        }
        isAsking = state.isAsking
        var skippedItems: [String] = []
        if case .imported(let report) = state.phase { skippedItems = TransferText(.desktop).skippedItems(report) }
        report.text = ([translated("Left out or not understood:")] + skippedItems).joined(separator: "\n")
        reportScroller.isVisible = !skippedItems.isEmpty
        switch state.phase {
        case .exported, .imported: show.isVisible = true
        default: show.isVisible = false
        }
        if state.isOver { (show.isVisible ? show : close).grabFocus() }
    }

    private func build() {
        let column = Box(.vertical, spacing: 12)
        column.addStyle("transfer")
        heading.addStyle("title-3")
        for label in [heading, text, report] {
            gtk_label_set_wrap(label.cast(), 1)
            gtk_label_set_wrap_mode(label.cast(), PANGO_WRAP_WORD_CHAR)
            gtk_label_set_max_width_chars(label.cast(), 44)
        }
        for label in [heading, text] { gtk_label_set_justify(label.cast(), GTK_JUSTIFY_CENTER) }
        gtk_label_set_selectable(text.cast(), 1)
        gtk_label_set_xalign(report.cast(), 0)
        report.addStyle("caption")
        gtk_scrolled_window_set_policy(reportScroller.cast(), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_scrolled_window_set_propagate_natural_height(reportScroller.cast(), 1)
        reportScroller.setContentHeight(minimum: 0, maximum: 240)
        reportScroller.setChild(report)
        bar.setAccessibleLabel(translated("Progress"))
        let buttons = Box(.horizontal, spacing: 12)
        gtk_box_set_homogeneous(buttons.cast(), 1)
        gtk_widget_set_halign(buttons.cast(), GTK_ALIGN_CENTER)
        for button in [merge, show] { button.addStyle("suggested-action") }
        for button in [cancel, close, newRoom, merge, show] {
            button.addStyle("pill")
            buttons.append(button)
        }
        for child in [heading, text, bar, reportScroller, buttons] as [Widget] { column.append(child) }
        let handle = Widget(sinking: gtk_window_handle_new())
        gtk_window_handle_set_child(handle.cast(), column.cast())
        adw_window_set_content(window.cast(), handle.cast())
    }
}
