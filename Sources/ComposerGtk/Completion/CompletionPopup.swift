import CGtk
import Composer
import ComposerSessions
import GtkKit

/// Shows suggestions in a popover above the composer, aligned with the start of the query, or docked on top of the
/// composer in narrow windows. The focus stays in the text.
final class CompletionPopup {
    /// The window width below which the list is docked, in pixels.
    static let dockingWidth = 480
    /// Announces the selected suggestion and the number of suggestions.
    let announcer = Announcer()

    private let model: any ComposerModel
    private let bar: Widget
    private let textView: Widget
    private let dock: Box
    // Created with the first suggestions: a room is opened more often than it needs any.
    private var madePopover: CompanionPopover?
    private(set) var madeList: CompletionList?
    /// The host's view of the suggestions, in place of the list (HKW-51).
    private var hostChooser: (any CompletionChooser)?
    /// Whether suggestions are shown here. If `false`, the host shows them; keys and rows still belong to the composer
    /// (HKW-70).
    var isEnabled = true {
        didSet { if isEnabled != oldValue { render(model.composer.completion) } }
    }
    private let editor: EditorView
    private var isDocked: Bool?
    private var placementWidth = 0
    private var rendering: Rendering?

    /// - Parameters:
    ///   - bar: The widget around the composer, the popover's parent.
    ///   - dock: The container of the list in narrow windows.
    init(model: any ComposerModel, editor: EditorView, bar: Widget, dock: Box) {
        self.model = model
        self.bar = bar
        self.editor = editor
        textView = editor.textView
        self.dock = dock
        rendering = Rendering({ [model] in model.composer.completion }, { [weak self] in self?.render($0) })
    }

    isolated deinit {
        madePopover?.unparent()
        for child in dock.children { dock.remove(child) }
    }

    private var popover: CompanionPopover {
        if let madePopover { return madePopover }
        let popover = CompanionPopover(parent: bar)
        popover.addStyle("completion-popover")
        madePopover = popover
        return popover
    }

    private var list: CompletionList {
        if let madeList { return madeList }
        let list = CompletionList()
        list.avatars = avatars
        madeList = list
        if hostChooser == nil { connect(list) }
        return list
    }

    /// The view of the suggestions: the default list, or the host's chooser (HKW-51).
    private var chooser: any CompletionChooser { hostChooser ?? list }

    /// Replaces the list with the host's chooser; `nil` restores the list (HKW-51).
    func use(_ other: (any CompletionChooser)?) {
        guard other !== hostChooser else { return }
        close()
        let previous = hostChooser ?? madeList
        previous?.onAccept = nil
        previous?.onRetry = nil
        hostChooser = other
        isDocked = nil
        if let next = other ?? madeList { connect(next) }
        render(model.composer.completion)
    }

    private func connect(_ chooser: any CompletionChooser) {
        chooser.onAccept = { [weak model] in model?.handle(.acceptCompletion($0)) }
        chooser.onRetry = { [weak model] in model?.handle(.retryCompletion) }
        textView.setAccessibleCompletions(chooser.widget)
    }

    /// Loads the avatars of the rows. Without it, rows show initials.
    var avatars: CompletionAvatars? {
        didSet { madeList?.avatars = avatars }
    }

    /// The list's widget, in the popover or docked.
    var listWidget: Widget { chooser.widget }
    func row(at index: Int) -> Widget? { madeList?.row(at: index) }
    var isOpen: Bool { isDocked == true ? dock.isVisible : madePopover?.isOpen == true }
    /// Whether an on-screen keyboard leaves no room for a popover (SLK-50).
    var isCramped = false {
        didSet { if isCramped != oldValue, isOpen { render(model.composer.completion) } }
    }

    private func render(_ completion: CompletionState?) {
        guard isEnabled, let completion, completion.isVisible else { return close() }
        chooser.show(completion)
        updatePlacement()
        point(at: completion.range.location)
        if isDocked == true { dock.isVisible = true } else { popover.isOpen = true }
        textView.setAccessiblyExpanded(true)
        textView.setAccessibleActiveDescendant(completion.selected.flatMap { chooser.accessibleRow(at: $0) })
        announcer.post(CompletionText.desktop.announcement(completion))
    }

    private func close() {
        madePopover?.isOpen = false
        dock.isVisible = false
        (hostChooser ?? madeList)?.clear()
        textView.setAccessiblyExpanded(false)
        textView.setAccessibleActiveDescendant(nil)
        announcer.post("")
    }

    /// Updates the placement if the window's width has changed.
    func windowChanged() {
        guard isOpen, let completion = model.composer.completion, rootWidth != placementWidth else { return }
        render(completion)
    }

    // MARK: Placement

    /// The window's width in pixels, or 0 if the bar is not in a window.
    private var rootWidth: Int {
        bar.root?.width ?? 0
    }

    private func updatePlacement() {
        placementWidth = rootWidth
        let docks = placementWidth > 0 && placementWidth < Self.dockingWidth || isCramped
        guard docks != isDocked else { return }
        isDocked = docks
        popover.isOpen = false
        dock.isVisible = false
        popover.setChild(nil)
        for child in dock.children { dock.remove(child) }
        if docks { dock.append(chooser.widget) } else { popover.setChild(chooser.widget) }
        chooser.widget.setStyle("docked", docks)
    }

    private func point(at location: Int) {
        guard isDocked == false else { return }
        let rectangle = editor.rectangle(at: location, in: bar)
        popover.point(x: Double(rectangle.x), y: 0, width: 1, height: Double(bar.height))
    }
}
