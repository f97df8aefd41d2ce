package import ChatCore
package import GtkKit

/// A file in a message: its icon, name and size, and buttons to open and save it.
@MainActor package final class FileCard {
    package let widget: Widget
    let open: FileButton
    let save: FileButton
    private let card = Box(.horizontal, spacing: 9)
    private var loading: Task<Void, Never>?

    package init(_ file: MediaReference, _ media: MediaPresenter) {
        open = FileButton(
            "parlance-open-symbolic", translated("Open"), translated("Open {name}", ["name": file.name]))
        save = FileButton(
            "parlance-save-symbolic", translated("Save"), translated("Save {name}", ["name": file.name]))
        card.addStyle("message-file")
        widget = card
        card.append(Self.icon(file.type))
        card.append(Self.labels(file, details: media.texts.details(file)))
        open.onClick { [weak media] completion in
            guard let media else { return completion() }
            media.open(file, completion: completion)
        }
        save.onClick { [weak self, weak media] completion in
            guard let self, let media else { return completion() }
            media.save(file, over: widget, completion: completion)
        }
        card.append(open.widget)
        card.append(save.widget)
        // For audio and video, the player beside the card does this.
        if MediaPreferences.Kind(file) == .files {
            loading = Task { [weak media] in _ = await media?.prefetch(file) }
        }
    }

    isolated deinit { loading?.cancel() }

    /// Inserts a button before the icon.
    func addFirst(_ button: Widget) { card.prepend(button) }

    private static func icon(_ type: String) -> Widget {
        let icon = Image(icon: FileIcon.name(ofType: type))
        icon.pixelSize = 28
        return icon
    }

    private static func labels(_ file: MediaReference, details: String) -> Widget {
        let labels = Box(.vertical)
        labels.hexpand = true
        labels.valign = .center
        let name = Label(file.name)
        name.setEllipsize(.middle)
        name.maxWidthChars = 32
        name.xalign = 0
        name.tooltip = file.altText ?? file.name
        labels.append(name)
        if !details.isEmpty {
            let line = Label(details)
            line.xalign = 0
            for style in ["caption", "dim-label"] { line.addStyle(style) }
            labels.append(line)
        }
        return labels
    }

    /// - Parameter label: the accessible label, which names the file too.
    static func button(_ icon: String, _ tooltip: String, _ label: String) -> Button {
        let button = Button(icon: icon)
        for style in ["flat", "circular"] { button.addStyle(style) }
        button.valign = .center
        button.tooltip = tooltip
        button.setAccessibleLabel(label)
        return button
    }
}
