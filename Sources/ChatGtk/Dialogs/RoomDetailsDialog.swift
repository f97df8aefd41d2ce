import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit
import MediaGtk

/// A room's name, topic, address and members.
final class RoomDetailsDialog {
    private let widget: Dialog
    private let error: Label
    private let avatar = AvatarView(size: 96)
    private let roomName: Label
    private let roomTopic: Label
    private let memberCount: Label
    private let edits: Widget
    private let name: EntryRow
    private let topic: EntryRow
    private let address: ActionRow
    private let notificationSettings: PreferencesGroup
    private let notifications: ComboRow
    private let encryptionSettings: PreferencesGroup
    private let encryption: ActionRow
    private let encrypt: Button
    private let members: PreferencesGroup
    private let search: SearchEntry
    private let invite: Button
    private let spinner: Spinner
    private let viewModel: RoomDetailsViewModel
    private let avatarLoader: AvatarLoader
    private let accountEncryption: EncryptionCoordinator?
    private var rows: [MemberRow] = []
    /// Says how many members are not listed.
    private var unlisted: (text: String, row: ActionRow)?
    private var rendering: Rendering?

    private struct MemberRow: ArrangedRow {
        let entry: RoomMembers.Entry
        let widget: ActionRow
        /// Retained while the row is displayed.
        let avatar: AvatarView
        /// Removes the member, if the user may do that.
        let remove: Button?

        var id: MemberID { entry.id }

        func grabFocus() { if remove?.grabFocus() != true { widget.grabFocus() } }
    }

    /// Presents the dialog, which retains itself until it is closed.
    /// - Parameter leave: called when the user wants to leave the room.
    @discardableResult
    static func present(
        _ viewModel: RoomDetailsViewModel, over parent: Widget, avatarLoader: AvatarLoader,
        encryption: EncryptionCoordinator? = nil, leave: @escaping @MainActor () -> Void
    ) -> Dialog {
        let dialog = RoomDetailsDialog(
            viewModel, avatarLoader: avatarLoader, encryption: encryption, leave: leave)
        viewModel.start()
        dialog.widget.retain([dialog])
        dialog.widget.present(over: parent)
        return dialog.widget
    }

    private init(
        _ viewModel: RoomDetailsViewModel, avatarLoader: AvatarLoader, encryption: EncryptionCoordinator?,
        leave: @escaping @MainActor () -> Void
    ) {
        self.viewModel = viewModel
        accountEncryption = encryption
        self.avatarLoader = avatarLoader
        let builder = Builder(resource: Resource.ui("room-details"))
        widget = Dialog(builder)
        error = builder["error"]
        roomName = builder["room_name"]
        roomTopic = builder["room_topic"]
        memberCount = builder["member_count"]
        edits = builder["room"]
        name = builder["name"]
        topic = builder["topic"]
        address = builder["address"]
        notificationSettings = builder["notification_settings"]
        notifications = builder["notifications"]
        encryptionSettings = builder["encryption_settings"]
        self.encryption = builder["encryption"]
        encrypt = builder["encrypt"]
        members = builder["members"]
        search = builder["search"]
        invite = builder["invite"]
        spinner = builder["spinner"]
        builder["avatar", Box.self].append(avatar.widget)
        for row in [name, topic] { row.labelButtons() }
        name.text = viewModel.state.name
        name.onApply { [weak self] in self?.rename() }
        topic.onApply { [weak self] in
            guard let self else { return }
            self.viewModel.send(.setTopic(self.topic.text))
        }
        notifications.onSelectionChange { [weak viewModel] index in
            guard Self.rules.indices.contains(index) else { return }
            viewModel?.send(.notify(Self.rules[index]))
        }
        search.onSearchChange { [weak self] in
            guard let self else { return }
            self.viewModel.send(.search(self.search.text))
        }
        builder["copy", Button.self].onClick { [weak self] in self?.copyAddress() }
        invite.onClick { [weak self] in self?.openInvite() }
        encrypt.onClick { [weak self] in self?.confirmEncrypting() }
        builder["leave", Button.self].onClick { [weak widget] in
            widget?.close()
            leave()
        }
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    isolated deinit { viewModel.abandon() }

    /// The rules in the order of the row's items.
    private static let rules: [RoomNotificationRule?] = [nil, .all, .mentions, .nothing]

    private func rename() {
        viewModel.send(.rename(name.text))
    }

    private func copyAddress() {
        if let text = viewModel.state.address { widget.clipboard.setText(text) }
    }

    private func openInvite() {
        guard let inviting = viewModel.inviting() else { return }
        InviteDialog.present(inviting, over: widget, avatarLoader: avatarLoader)
    }

    // MARK: Rendering

    private func render(_ state: RoomDetailsViewModel.State) {
        error.text = state.error.map { ToastText(.desktop).text(for: $0) } ?? ""
        error.isVisible = state.error != nil
        showHeader(state)
        name.setStyle("error", state.isNameInvalid)
        name.isVisible = state.canRename
        topic.isVisible = state.canSetTopic
        if state.topic != lastTopic {
            // The user may have typed on while what they entered was being sent.
            if topic.text == lastTopic { topic.text = state.topic }
            lastTopic = state.topic
        }
        address.isVisible = state.address != nil
        address.setSubtitle(state.address ?? "")
        edits.isVisible = state.canRename || state.canSetTopic || state.address != nil
        notificationSettings.isVisible = state.hasNotifications
        let rule = Self.rules.firstIndex(of: state.notifications) ?? 0
        if notifications.selectedIndex != rule { notifications.selectedIndex = rule }
        encryptionSettings.isVisible = state.isEncrypted == true || state.canEncrypt || state.isEncrypting
        encryption.setTitle(state.encryptionTitle(.gettext))
        encryption.setSubtitle(state.encryptionText(.gettext))
        encrypt.isVisible = state.isEncrypted != true
        encrypt.isSensitive = state.canEncrypt
        invite.isVisible = state.canInvite
        spinner.isSpinning = state.isLoading
        spinner.isVisible = state.isLoading
        showMembers(state)
    }

    private var lastTopic = ""

    private func showHeader(_ state: RoomDetailsViewModel.State) {
        avatar.show(state.name, state.avatar, from: avatarLoader)
        avatar.widget.setFallback(state.avatarFallback)
        roomName.text = state.name
        roomTopic.text = state.topic
        roomTopic.isVisible = !state.topic.isEmpty
        memberCount.text = state.memberCountText(.gettext)
    }

    private func showMembers(_ state: RoomDetailsViewModel.State) {
        search.isVisible = state.needsSearch
        let entries = state.listed
        let text = state.unlistedText(.gettext)
        guard entries != rows.map(\.entry) || text != unlisted?.text else { return }
        if let unlisted { members.remove(unlisted.row) }
        unlisted = nil
        let former = rows
        let known = Dictionary(former.map { ($0.id, $0) }) { first, _ in first }
        rows = entries.map { entry in known[entry.id].flatMap { $0.entry == entry ? $0 : nil } ?? makeRow(entry) }
        members.arrange(rows, replacing: former)
        guard let text else { return }
        let row = ActionRow(text)
        row.addStyle("dim-label")
        members.add(row)
        unlisted = (text, row)
    }

    private func makeRow(_ entry: RoomMembers.Entry) -> MemberRow {
        let member = entry.member
        let row = ActionRow(member.displayName)
        let avatar = AvatarView(size: 32)
        avatar.show(member.displayName, member.avatar, from: avatarLoader)
        row.addPrefix(avatar.widget)
        let detail = entry.detail(.gettext)
        if !detail.isEmpty { row.setSubtitle(detail) }
        if accountEncryption != nil, member.kind == .person {
            row.isActivatable = true
            row.onActivated { [weak self] in self?.showIdentity(of: member) }
        }
        let remove = entry.canBeRemoved ? makeRemoveButton(entry) : nil
        if let remove { row.addSuffix(remove) }
        return MemberRow(entry: entry, widget: row, avatar: avatar, remove: remove)
    }

    private func makeRemoveButton(_ entry: RoomMembers.Entry) -> Button {
        let remove = Button(icon: "list-remove-symbolic")
        let label = entry.removalLabel(.gettext)
        remove.tooltip = label
        remove.setAccessibleLabel(label)
        remove.addStyle("flat")
        remove.valign = .center
        remove.onClick { [weak self] in self?.confirmRemoving(entry.member) }
        return remove
    }

    private func confirmEncrypting() {
        Confirmation.present(.encrypting(.gettext), over: widget) { [weak viewModel] in viewModel?.send(.encrypt) }
    }

    private func showIdentity(of member: Member) {
        guard let accountEncryption else { return }
        IdentityDialog.present(accountEncryption.identity(of: member.id, named: member.displayName), over: widget)
    }

    private func confirmRemoving(_ member: Member) {
        Confirmation.present(.removing(member, .gettext), over: widget) { [weak viewModel] in
            viewModel?.send(.remove(member.id))
        }
    }
}
