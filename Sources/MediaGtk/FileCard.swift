import CGtk
package import ChatCore
package import GtkKit

/// A file in a message: its icon, name and size, and buttons to open and save it.
package final class FileCard {
    package let widget: Widget
    let open: Button
    private let card = Box(.horizontal, spacing: 9)

    package init(_ file: MediaReference, _ media: MediaPresenter) {
        open = Self.button("document-open-symbolic", translated("Open"), file)
        card.addStyle("message-file")
        widget = card
        card.append(Self.icon(file.type))
        card.append(Self.texts(file))
        open.onClick { [weak media] in media?.open(file) }
        let save = Self.button("document-save-symbolic", translated("Save"), file)
        save.onClick { [weak self, weak media] in
            if let self { media?.save(file, over: self.widget) }
        }
        card.append(open)
        card.append(save)
    }

    /// Inserts a button before the icon.
    func addFirst(_ button: Widget) { card.prepend(button) }

    private static func icon(_ type: String) -> Widget {
        let icon = Image(icon: "text-x-generic-symbolic")
        icon.pixelSize = 28
        // Without a symbolic icon for the type, the theme returns a full-color one or none, which would be hard to see
        // on the message's background.
        icon.setIcon(ofMIMEType: type, onlySymbolic: true)
        return icon
    }

    private static func texts(_ file: MediaReference) -> Widget {
        let texts = Box(.vertical)
        texts.hexpand = true
        texts.valign = .center
        let name = Label(file.name)
        name.setEllipsize(.middle)
        name.maxWidthChars = 32
        name.xalign = 0
        name.tooltip = file.altText ?? file.name
        texts.append(name)
        let facts = [file.duration.map(DurationText.text), file.bytes.map(ByteCount.text)].compactMap { $0 }
        if !facts.isEmpty {
            let size = Label(facts.joined(separator: " · "))
            size.xalign = 0
            for style in ["caption", "dim-label"] { size.addStyle(style) }
            texts.append(size)
        }
        return texts
    }

    static func button(_ icon: String, _ name: String, _ file: MediaReference) -> Button {
        let button = Button(icon: icon)
        for style in ["flat", "circular"] { button.addStyle(style) }
        button.valign = .center
        button.tooltip = name
        button.setAccessibleLabel("\(name) \(file.name)")
        return button
    }
}
