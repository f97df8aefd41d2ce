import CGtk
import ChatViewModels
import Composer
import GtkKit

/// The composer at the foot of a conversation: a ``ComposerBar`` over the room's view model.
final class ComposerView {
    let widget = ComposerBar.make()
    let bar: ComposerBar

    init(viewModel: ComposerViewModel) {
        guard let bar = ComposerBar.of(widget) else { fatalError("a composer bar has its implementation") }
        self.bar = bar
        bar.model = viewModel
    }

    var textView: Widget { bar.textWidget }

    /// The identifier under which the user is mentioned, whose pill is told apart.
    var ownEntityID: String? {
        get { bar.ownEntityID }
        set { bar.ownEntityID = newValue }
    }

    /// Gives the text the keyboard focus.
    func grabFocus() { bar.grabFocus() }

    var hasFocus: Bool { textView.hasFocus }
}
