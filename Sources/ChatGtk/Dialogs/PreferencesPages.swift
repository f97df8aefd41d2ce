import CGtk
import GtkKit

/// The list of preferences pages: beside the page, or, in a narrow dialog, before it.
final class PreferencesPages {
    private let panes: Leaflet
    private let list: ListBox
    private let stack: ViewStack
    private let title: WindowTitle
    private var pages: [(name: String, title: String)] = []
    private var current: Int?

    init(_ builder: Builder, in dialog: Dialog, names: [String]) {
        panes = builder["panes"]
        list = builder["pages"]
        stack = builder["stack"]
        title = builder["page_title"]
        for name in names {
            guard let page = stack.page(name) else { continue }
            pages.append((name, page.title))
            list.append(Self.row(page.title, icon: page.icon))
        }
        list.onRowActivated { [weak self] in self?.open($0) }
        list.connect("row-selected") { [weak self] _ in self?.selectionChanged() }
        addLeaving()
        builder["back", Button.self].onClick { [weak self] in self?.showList() }
        addKeys(to: dialog)
    }

    /// - Parameter name: the initial page; `nil` for the list, with the first page beside it.
    func start(with name: String?) {
        let index = name.flatMap { name in pages.firstIndex { $0.name == name } }
        show(index ?? 0)
        panes.visibleChildName = index == nil ? "list" : "page"
    }

    /// Goes back with the arrow key that points towards the list.
    private func addKeys(to dialog: Dialog) {
        let keys = KeyController()
        keys.onPress { [weak self] key in
            guard let self, panes.isFolded, panes.visibleChildName == "page", key.modifiers.contains(.alt),
                key.modifiers.isDisjoint(with: [.control, .shift])
            else { return false }
            let isBack = panes.isRightToLeft ? key.key == GDK_KEY_Right : key.key == GDK_KEY_Left
            if isBack { showList() }
            return isBack
        }
        dialog.addController(keys)
    }

    /// Makes Tab leave the list. GTK would move through its rows, which would change the page.
    private func addLeaving() {
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            guard let self, !panes.isFolded, key.key == GDK_KEY_Tab,
                key.modifiers.isDisjoint(with: [.control, .shift, .alt])
            else { return false }
            return stack.withPointer { gtk_widget_child_focus($0, GTK_DIR_TAB_FORWARD) } != 0
        }
        list.addController(keys)
    }

    /// Changes the displayed page while the arrow keys move through the list beside it.
    private func selectionChanged() {
        let index = list.withPointer { list in
            gtk_list_box_get_selected_row(list).map { Int(gtk_list_box_row_get_index($0)) }
        }
        if let index { show(index) }
    }

    private func open(_ index: Int) {
        show(index)
        panes.visibleChildName = "page"
    }

    private func show(_ index: Int) {
        guard index != current, pages.indices.contains(index) else { return }
        current = index
        stack.showPage(pages[index].name)
        title.setTitle(pages[index].title)
        list.select(index)
    }

    private func showList() {
        panes.visibleChildName = "list"
        list.grabFocus()
    }

    private static func row(_ title: String, icon: String?) -> Widget {
        let content = Box(.horizontal, spacing: 12)
        content.append(Image(icon: icon))
        let label = Label(title)
        label.xalign = 0
        label.wrap = true
        // Otherwise, the label wraps at the first space regardless of the available width.
        label.hexpand = true
        content.append(label)
        let row = ListBoxRow(content)
        row.setAccessibleLabel(title)
        return row
    }
}
