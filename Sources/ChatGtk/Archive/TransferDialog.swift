import ChatCore
import ChatViewModels
import Foundation
import GtkKit

/// The progress of an export or import, with a cancel button and the final report.
final class TransferDialog {
    let widget = Dialog(width: 400)
    private let viewModel: TransferViewModel
    private let heading = Label()
    private let text = Label()
    private let bar = ProgressBar()
    private let report = Label()
    private let reportScroller = ScrolledWindow(horizontal: .never, vertical: .automatic)
    private let cancel = Button(mnemonic: translated("_Cancel"))
    private let newRoom = Button(mnemonic: translated("_New Room"))
    private let merge = Button(mnemonic: translated("_Merge"))
    private let show = Button(mnemonic: translated("_Open"))
    private let close = Button(mnemonic: translated("_Close"))
    private var rendering: Rendering?
    private var displayedFocus: TransferViewModel.State.Focus?

    /// Presents the dialog and starts the transfer. The dialog retains itself until it is closed, which is possible
    /// only after the transfer has ended.
    @discardableResult
    static func present(_ viewModel: TransferViewModel, over parent: Widget) -> TransferDialog {
        let dialog = TransferDialog(viewModel)
        dialog.widget.onCloseRequest { [weak viewModel] in
            guard viewModel?.state.isOver == false else { return false }
            viewModel?.send(.cancel)
            return true
        }
        dialog.widget.retain([dialog])
        viewModel.start()
        dialog.widget.present(over: parent)
        return dialog
    }

    private init(_ viewModel: TransferViewModel) {
        self.viewModel = viewModel
        build()
        cancel.onClick { [weak viewModel] in viewModel?.send(.cancel) }
        close.onClick { [weak widget] in widget?.close() }
        newRoom.onClick { [weak viewModel] in viewModel?.send(.decide(.newRooms)) }
        merge.onClick { [weak viewModel] in viewModel?.send(.decide(.merge)) }
        show.onClick { [weak self] in self?.open() }
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    var headingText: String { heading.text }
    var bodyText: String { text.text }
    var reportText: String { reportScroller.isVisible ? report.text : "" }
    var cancelButton: Button { cancel }
    var choiceButtons: [Button] { [newRoom, merge] }

    private func open() {
        if let folder = viewModel.state.exportedFolder {
            URILauncher.launch(folder.absoluteString)
        } else {
            viewModel.send(.showImported)
        }
        widget.close()
    }

    private func render(_ state: TransferViewModel.State) {
        let texts = TransferText(.desktop)
        heading.text = texts.title(state)
        widget.title = heading.text
        text.text = texts.body(state.phase)
        text.isVisible = !text.text.isEmpty
        bar.isVisible = !state.isOver && !state.isAsking
        if case .running(let progress) = state.phase, let fraction = progress.fraction {
            bar.fraction = fraction
        }
        cancel.isVisible = !state.isOver
        cancel.isSensitive = state.canCancel
        close.isVisible = state.isOver
        for button in choiceButtons { button.isVisible = state.isAsking }
        if case .asking(let earlierImports) = state.phase { newRoom.label = texts.newRooms(earlierImports.count) }
        let skippedItems = texts.report(state.phase)
        report.text = skippedItems ?? ""
        reportScroller.isVisible = skippedItems != nil
        show.isVisible = state.canOpen
        if state.focus != displayedFocus { focus(state.focus) }
    }

    private func focus(_ button: TransferViewModel.State.Focus?) {
        displayedFocus = button
        switch button {
        case .merge: merge.grabFocus()
        case .open: show.grabFocus()
        case .close: close.grabFocus()
        case nil: break
        }
    }

    private func build() {
        let column = Box(.vertical, spacing: 12)
        column.addStyle("transfer")
        heading.addStyle("title-3")
        for label in [heading, text, report] {
            label.wrap = true
            label.setWrapMode(.wordOrCharacter)
            label.maxWidthChars = 44
        }
        for label in [heading, text] { label.setJustify(.center) }
        text.isSelectable = true
        report.xalign = 0
        report.addStyle("caption")
        reportScroller.propagatesNaturalHeight = true
        reportScroller.setContentHeight(minimum: 0, maximum: 240)
        reportScroller.setChild(report)
        bar.setAccessibleLabel(translated("Progress"))
        let buttons = Box(.horizontal, spacing: 12)
        buttons.isHomogeneous = true
        buttons.halign = .center
        for button in [merge, show] { button.addStyle("suggested-action") }
        for button in [cancel, close, newRoom, merge, show] {
            button.addStyle("pill")
            buttons.append(button)
        }
        for child in [heading, text, bar, reportScroller, buttons] as [Widget] { column.append(child) }
        widget.setContent(WindowHandle(column))
    }
}
