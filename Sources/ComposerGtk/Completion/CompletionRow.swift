import Composer
import GtkKit
package import MediaGtk

/// Finds the avatars of suggested entities.
package struct CompletionAvatars {
    package let avatarLoader: AvatarLoader
    /// Returns the avatar URI for an entity ID, or `nil` if it has no avatar.
    let uri: (String) -> String?

    package init(avatarLoader: AvatarLoader, uri: @escaping (String) -> String?) {
        self.avatarLoader = avatarLoader
        self.uri = uri
    }
}

/// A row of the completion list: avatar, name with the matched ranges in bold, and a disambiguating detail.
final class CompletionRow {
    let widget: Widget
    /// Called with the row's index when it is clicked.
    var onClick: ((Int) -> Void)?

    private let avatar = AvatarView(size: 24)
    private let glyph = Label()
    private let name = Label()
    private let detail = Label()
    private var index = 0
    private var shown: Content?
    /// The ID of the entity where the pointer was pressed.
    private var pressedID: String?
    /// The number of times that the widgets were set.
    private(set) var renderCount = 0

    private struct Content: Equatable {
        let entity: CompletionEntity
        let prefix: String
        let isSelected: Bool
        let avatars: ObjectIdentifier?
    }

    init() {
        let row = Box(.horizontal, spacing: 9)
        widget = row
        row.addStyle("completion-row")
        avatar.widget.addStyle("completion-avatar")
        glyph.addStyle("completion-glyph")
        for child in [avatar.widget, glyph, name, detail] { row.append(child) }
        for label in [name, detail] {
            label.setEllipsize(.end)
            label.isSingleLine = true
        }
        name.xalign = 0
        detail.xalign = 0
        detail.hexpand = true
        // Limits the natural width; the label expands into the space that the name leaves.
        detail.maxWidthChars = 8
        for style in ["dim-label", "caption"] { detail.addStyle(style) }
        let click = ClickGesture()
        click.onPress { [weak self] _ in self?.press() }
        click.onRelease { [weak self] _ in self?.release() }
        row.addController(click)
    }

    func press() { pressedID = shown?.entity.id }

    /// Suggestions that came since the press may have put another entity into the row.
    func release() { if pressedID == shown?.entity.id { onClick?(index) } }

    /// Sets the widgets unless they already show the entity: an arrow key selects another of up to fifty, and GTK lays a
    /// label out again when its attributes are set.
    func show(_ index: Int, of completion: CompletionState, _ avatars: CompletionAvatars?) {
        guard completion.items.indices.contains(index) else { return }
        self.index = index
        let entity = completion.items[index]
        let isSelected = index == completion.selected
        let content = Content(
            entity: entity, prefix: completion.prefix, isSelected: isSelected,
            avatars: avatars.map { ObjectIdentifier($0.avatarLoader) })
        guard content != shown else { return }
        shown = content
        renderCount += 1
        let isEmoji = entity.replacement != nil
        glyph.isVisible = isEmoji
        glyph.text = entity.replacement ?? ""
        avatar.widget.isVisible = !isEmoji && Self.avatarPrefixes.contains(completion.prefix)
        avatar.show(entity.name, isEmoji ? nil : avatars?.uri(entity.id), from: avatars?.avatarLoader)
        name.text = entity.name
        name.setBold(entity.matched)
        detail.text = entity.detail ?? ""
        detail.isVisible = entity.detail?.isEmpty == false
        widget.setStyle("selected", isSelected)
        let item = IndexedList.item(of: widget)
        item.setAccessiblySelected(isSelected)
        item.setAccessibleLabel([entity.name, entity.detail].compactMap { $0 }.joined(separator: ", "))
    }

    /// The empty prefix is that of implicit queries, which suggest people.
    private static let avatarPrefixes: Set<String> = ["@", "#", ""]
}

extension Label {
    /// Draws ranges of the text in bold. The ranges are in UTF-16 code units.
    fileprivate func setBold(_ ranges: [TextRange]) {
        let text = text
        let attributes = TextAttributes()
        for range in ranges {
            let start = String.Index(utf16Offset: range.location, in: text)
            let end = String.Index(utf16Offset: range.end, in: text)
            guard end <= text.endIndex else { continue }
            let first = text.utf8.distance(from: text.startIndex, to: start)
            attributes.add(.bold, to: first..<text.utf8.distance(from: text.startIndex, to: end))
        }
        setAttributes(attributes)
    }
}
