import ChatViewModels
import Composer
import ComposerGtk
import GtkKit

/// The composer of a conversation: a ``ComposerBar`` bound to the room's view model, with attachments and emoji.
final class ComposerView {
    let widget = ComposerBar.make()
    let bar: ComposerBar
    private let emoji = EmojiButton()
    private let mention = Button(label: "@")
    private var shake: ShakeGesture?
    private weak var viewModel: ComposerViewModel?

    init(viewModel: ComposerViewModel) {
        guard let bar = ComposerBar.of(widget) else { fatalError("a composer bar has its implementation") }
        self.bar = bar
        show(viewModel)
        addMentionButton()
        bar.append(emoji.widget, to: .end)
        emoji.onPick = { [weak self] emoji in
            self?.viewModel?.insertEmoji(emoji)
            self?.grabFocus()
        }
        shake = ShakeGesture(over: widget) { [weak self] in self?.viewModel?.send(.shaken) }
    }

    /// Shows the composer of another room.
    func show(_ viewModel: ComposerViewModel) {
        card = nil
        self.viewModel = viewModel
        bar.model = viewModel
        bar.acceptsFiles = viewModel.attachments != nil
    }

    var textView: Widget { bar.textWidget }

    // MARK: Mentions

    /// The bar width below which the button is hidden in favor of the text, in pixels: every keyboard has `@`.
    private static let mentionWidth = 400.0

    /// Whether the room has other members to mention.
    var hasOthers = true {
        didSet { showMentionButton() }
    }
    private var width = 0.0

    /// Creates the content of a mention's card, or returns `nil` for none.
    var makeCard: ((Mention) -> UserCard.Content?)? {
        didSet {
            bar.makeMentionCard = { [weak self] mention in
                guard let self else { return nil }
                self.card = self.makeCard?(mention).map { UserCard($0, avatarLoader: self.avatars?.avatarLoader) }
                return self.card?.widget
            }
        }
    }
    private var card: UserCard?

    func closeCard() { bar.closeMentionCard() }

    private func addMentionButton() {
        mention.tooltip = translated("Mention Someone")
        mention.setAccessibleLabel(translated("Mention Someone"))
        for style in ["flat", "circular", "parlance-composer-button", "mention-button"] { mention.addStyle(style) }
        mention.focusOnClick = false
        mention.onClick { [weak self] in self?.bar.startCompletion("@") }
        bar.append(mention, to: .end)
        bar.onSizeChange { [weak self] width, _ in
            self?.width = width
            self?.showMentionButton()
        }
        showMentionButton()
    }

    private func showMentionButton() { mention.isVisible = hasOthers && width >= Self.mentionWidth }

    /// The entity ID of the user, whose mentions get a distinct pill.
    var currentUserEntityID: String? {
        get { bar.currentUserEntityID }
        set { bar.currentUserEntityID = newValue }
    }

    /// Loads the avatars of suggestions. Without it, they show initials.
    var avatars: CompletionAvatars? {
        didSet { bar.avatars = avatars }
    }

    // MARK: Files, if the room accepts any

    /// Opens the file chooser.
    func chooseFiles() {
        if bar.acceptsFiles { bar.chooseFiles() }
    }

    /// Accepts files dropped anywhere on `area`; `overlay` is the GtkOverlay for a hint.
    func acceptDrops(on area: Widget, hint overlay: Overlay) {
        if bar.acceptsFiles { bar.acceptDrops(on: area, hint: overlay) }
    }

    /// Focuses the text.
    func grabFocus() { bar.grabFocus() }

    var hasFocus: Bool { textView.hasFocus }
}
