import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

/// An invitation in place of a conversation: who invites the user to which room, with buttons to accept and decline.
final class InvitationView {
    let widget: Widget
    private let backButton: Widget
    private let header: HeaderBar
    private let avatar = AvatarView(size: 96)
    private let avatarLoader: AvatarLoader
    private let labels: [String: Label]
    private let accept: Button
    private let decline: Button
    private let spinner: Spinner
    private let texts = InvitationText(.desktop)
    private var rendering: Rendering?

    init(_ viewModel: InvitationViewModel, avatarLoader: AvatarLoader) {
        self.avatarLoader = avatarLoader
        let builder = Builder(resource: Resource.ui("invitation"))
        widget = builder["page"]
        backButton = builder["back_button"]
        header = builder["header"]
        header.hideBackButton()
        builder["avatar", Box.self].append(avatar.widget)
        let names = ["name", "address", "inviter", "topic", "encrypted", "error"]
        labels = Dictionary(uniqueKeysWithValues: names.map { ($0, builder[$0, Label.self]) })
        accept = builder["accept"]
        decline = builder["decline"]
        spinner = builder["spinner"]
        accept.onClick { [weak viewModel] in viewModel?.send(.accept) }
        decline.onClick { [weak viewModel] in viewModel?.send(.decline) }
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    /// Focuses the accept button: Return accepts, and Tab moves on to declining.
    func grabFocus() { (accept.isVisible ? accept : decline).grabFocus() }

    func show(isFolded: Bool) {
        backButton.isVisible = isFolded
        header.showsStartTitleButtons = isFolded
    }

    private func render(_ state: InvitationViewModel.State) {
        let invitation = state.invitation
        avatar.show(invitation.title, invitation.avatar, from: avatarLoader)
        show(invitation.title, in: "name")
        show(texts.address(of: invitation), in: "address")
        show(texts.inviter(of: invitation), in: "inviter")
        show(invitation.topic, in: "topic")
        labels["encrypted"]?.isVisible = invitation.isEncrypted
        show(state.error.map { texts.text(for: $0) }, in: "error")
        accept.isVisible = state.canBeAccepted
        decline.label = texts.decline(invitation)
        accept.isSensitive = state.canDecide
        decline.isSensitive = state.canDecide
        spinner.isVisible = !state.canDecide
        spinner.isSpinning = !state.canDecide
    }

    private func show(_ text: String?, in name: String) {
        labels[name]?.text = text ?? ""
        labels[name]?.isVisible = text?.isEmpty == false
    }
}
