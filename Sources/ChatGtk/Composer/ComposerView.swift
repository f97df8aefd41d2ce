import CGtk
import ChatViewModels
import Composer
import GtkKit

/// The composer at the foot of a conversation: a ``ComposerBar`` over the room's view model, with files and emoji.
final class ComposerView {
    let widget = ComposerBar.make()
    let bar: ComposerBar
    /// The way of files into the composer; nil where it takes none.
    let desk: AttachmentDesk?
    private let emoji = EmojiButton()
    private var shake: ShakeToClear?

    init(viewModel: ComposerViewModel) {
        guard let bar = ComposerBar.of(widget) else { fatalError("a composer bar has its implementation") }
        self.bar = bar
        bar.model = viewModel
        desk = AttachmentDesk(viewModel: viewModel)
        addFiles()
        bar.append(emoji.widget, to: .end)
        emoji.onPick = { [weak self, weak viewModel] emoji in
            viewModel?.insertEmoji(emoji)
            self?.grabFocus()
        }
        shake = ShakeToClear(over: widget) { [weak viewModel] in viewModel?.handle(.clear) }
    }

    var textView: Widget { bar.textWidget }

    /// The identifier under which the user is mentioned, whose pill is told apart.
    var ownEntityID: String? {
        get { bar.ownEntityID }
        set { bar.ownEntityID = newValue }
    }

    /// Of those whom completion offers; initials without.
    var avatars: CompletionAvatars? {
        didSet { bar.binding?.completion.avatars = avatars }
    }

    /// Gives the text the keyboard focus.
    func grabFocus() { bar.grabFocus() }

    var hasFocus: Bool { textView.hasFocus }

    private func addFiles() {
        guard let desk else { return }
        bar.append(desk.tray.widget, to: .top)
        bar.append(desk.button, to: .start)
        bar.binding?.editor.pictures.load = { [weak desk] in await desk?.tray.picture(of: $0, fitting: $1, by: $2) }
        desk.onDone = { [weak self] in self?.grabFocus() }
        bar.binding?.editor.onPaste = { [weak self] in
            guard let self else { return false }
            return self.desk?.takePaste(from: self.textView) ?? false
        }
    }
}
