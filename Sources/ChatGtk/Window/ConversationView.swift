import CGtk
import ChatCore
import ChatViewModels
import Composer
import GtkKit

/// An open room: header, timeline, typing strip, composer.
final class ConversationView {
    let widget: Widget

    private let conversation: Conversation
    private let title: Widget
    private let backButton: Button
    private let header: Widget
    private let stack: Stack
    private let emptyPage: Widget
    private let typing: Label
    private let latest: Revealer
    private let latestCount: Label
    private let timeline: TimelineView
    private let composer: ComposerView
    private let actions = ActionGroup()
    private var renderings: [Rendering] = []
    private var roomName = ""

    init(conversation: Conversation) {
        self.conversation = conversation
        let builder = Builder(resource: Resource.ui("conversation"))
        widget = builder["conversation"]
        title = builder["title"]
        backButton = builder["back_button"]
        header = builder["header"]
        stack = builder["timeline_stack"]
        emptyPage = builder["empty_page"]
        typing = builder["typing_label"]
        latest = builder["latest_revealer"]
        latestCount = builder["latest_count"]
        timeline = TimelineView(
            viewModel: conversation.timeline, scroller: builder["scroller"], menuParent: builder["conversation"])
        composer = ComposerView(viewModel: conversation.composer)
        builder["footer", Box.self].append(composer.widget)
        builder["latest_button", Button.self].onClick { [weak self] in
            self?.timeline.scrollToEnd()
            self?.composer.grabFocus()
        }
        timeline.onPosition = { [weak self] in self?.positionChanged($0) }
        timeline.onLeave = { [weak self] in self?.composer.grabFocus() }
        actions.add("focus-timeline") { [weak self] in self?.timeline.focusNewest() }
        widget.insertActions(actions, prefix: "conversation")
        renderings = [
            Rendering({ conversation.timeline.state }, { [weak self] in self?.render($0) }),
            Rendering({ conversation.composer.state.composer.typing }, { [weak self] in self?.typing.text = $0 ?? "" }),
        ]
    }

    func focusComposer() { composer.grabFocus() }
    func focusTimeline() { timeline.focusNewest() }
    func scrollToEnd() { timeline.scrollToEnd() }

    /// Shows the room's name, and whether the rooms are on another page.
    func show(_ row: RoomListViewModel.Row, isFolded: Bool) {
        roomName = row.name
        title.setProperty("title", row.name)
        backButton.isVisible = isFolded
        latestCount.isVisible = row.unreadLabel != nil
        latestCount.text = row.unreadLabel ?? ""
        header.setProperty("show-start-title-buttons", isFolded)
        emptyPage.setProperty("title", row.kind == .notes ? translated("Notes to Yourself") : row.name)
        emptyPage.setProperty(
            "description",
            row.kind == .notes
                ? translated("What you write here stays on this computer.") : translated("Nothing was said here yet."))
    }

    private func render(_ state: TimelineViewModel.State) {
        stack.visibleChild = state.isEmpty ? "empty" : "messages"
        title.setProperty("subtitle", subtitle(state))
    }

    private func subtitle(_ state: TimelineViewModel.State) -> String {
        let others = state.otherMembers.map(\.displayName)
        return others.isEmpty ? translated("Only you") : others.joined(separator: ", ")
    }

    private func positionChanged(_ isAtEnd: Bool) {
        latest.isRevealed = !isAtEnd
        // Faded out it would still lie over the newest message and take its clicks.
        gtk_widget_set_can_target(latest.cast(), isAtEnd ? 0 : 1)
    }
}
