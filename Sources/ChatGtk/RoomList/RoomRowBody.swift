import ChatViewModels
import ComposerGtk
import GtkKit
import MediaGtk

/// The widgets of a row of the room list that shows a room.
final class RoomRowBody {
    private let avatar = AvatarView(size: 40)
    private let name = Label()
    private let time = Label()
    private let preview = Label()
    private let column = Box(.vertical, spacing: 3)
    private let secondLine: Box
    // Made when they are first shown.
    /// What precedes the text of a draft or an unsent message.
    private var previewPrefix: Label?
    private var badge: Label?
    private var muted: Image?

    init(in row: Box) {
        secondLine = Self.line(preview)
        row.append(avatar.widget)
        column.hexpand = true
        column.valign = .center
        row.append(column)
        let firstLine = Self.line(name)
        firstLine.append(time)
        column.append(firstLine)
        column.append(secondLine)
        name.addStyle("room-name")
        for style in ["caption", "dim-label", "numeric"] { time.addStyle(style) }
        for style in ["caption", "dim-label", "room-preview"] { preview.addStyle(style) }
    }

    func setVisible(_ isVisible: Bool) {
        avatar.widget.isVisible = isVisible
        column.isVisible = isVisible
    }

    func showAvatar(of row: RoomListViewModel.Row, _ avatarLoader: AvatarLoader?) {
        avatar.show(row.name, row.avatar, from: avatarLoader)
    }

    func show(_ row: RoomListViewModel.Row, time: String, isInView: Bool, _ avatarLoader: AvatarLoader?) {
        showAvatar(of: row, avatarLoader)
        avatar.widget.setFallback(row.avatarFallback)
        name.text = row.name
        self.time.text = time
        let line = row.previewLine(.gettext)
        preview.text = line.text
        showPrefix(line.prefix, line.emphasis)
        showBadge(row.badge(isInView: isInView), isMuted: row.isMuted)
        if row.isMuted, muted == nil { muted = makeMuted() }
        muted?.isVisible = row.isMuted
    }

    private func showPrefix(_ text: String, _ emphasis: PreviewLine.Emphasis?) {
        guard !text.isEmpty else {
            previewPrefix?.isVisible = false
            return
        }
        let prefix = previewPrefix ?? Self.label(["caption", "preview-prefix"])
        if previewPrefix == nil { secondLine.prepend(prefix) }
        previewPrefix = prefix
        prefix.isVisible = true
        prefix.text = text
        prefix.setStyle("draft", emphasis == .draft)
        prefix.setStyle("error", emphasis == .failure)
    }

    private func showBadge(_ text: String?, isMuted: Bool) {
        guard let text else {
            badge?.isVisible = false
            return
        }
        let label = badge ?? Self.label(["unread-badge", "numeric"])
        if badge == nil {
            label.valign = .center
            secondLine.append(label)
        }
        badge = label
        label.isVisible = true
        label.text = text
        label.setStyle("muted", isMuted)
    }

    private func makeMuted() -> Image {
        let image = Image(icon: "notifications-disabled-symbolic")
        image.addStyle("dim-label")
        secondLine.insert(image, after: preview)
        return image
    }

    private static func label(_ styles: [String]) -> Label {
        let label = Label()
        for style in styles { label.addStyle(style) }
        return label
    }

    private static func line(_ first: Label) -> Box {
        let line = Box(.horizontal, spacing: 6)
        first.xalign = 0
        first.setEllipsize(.end)
        // Limits the natural width: a long text would widen the list at the expense of the other pane.
        first.maxWidthChars = 26
        first.isSingleLine = true
        first.hexpand = true
        line.append(first)
        return line
    }
}
