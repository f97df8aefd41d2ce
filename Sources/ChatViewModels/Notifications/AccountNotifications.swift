import ChatCore
import Composer
import Foundation
import Observation

/// The notifications of one account: at most one per room.
@MainActor
final class AccountNotifications {
    /// A room's messages in a notification.
    fileprivate struct Unread {
        var lines: [NotificationText.Line] = []
        var count = 0
        var newest: Date
        /// Whether the room list has counted them. Before that, it reports no unread messages.
        var isCounted = false
    }

    fileprivate static let maxLines = 8
    private static let summaryRoom = RoomID("")

    private let account: String
    private let conversations: ConversationCoordinator
    private let surroundings: NotificationCoordinator.Surroundings
    private let bodies: MessageBodies
    private var unread: [RoomID: Unread] = [:]
    /// Messages that arrived while catching up, by room.
    private var summarized: [RoomID: Unread] = [:]
    private var invitations: Set<RoomID> = []
    /// The rooms with a notification that was not withdrawn; the summary has ``summaryRoom``.
    private(set) var shown: Set<RoomID> = []
    /// `nil` until the list is loaded. Messages that failed before do not notify.
    private var failed: Set<RoomID>?
    private var arrivals: Task<Void, Never>?
    private var list: ChangeSubscription?

    private var text: NotificationText { surroundings.text }

    init(
        _ account: String, of conversations: ConversationCoordinator,
        in surroundings: NotificationCoordinator.Surroundings
    ) {
        self.account = account
        self.conversations = conversations
        self.surroundings = surroundings
        bodies = MessageBodies(readsPlainTexts: conversations.environment.readsPlainTexts)
        let stream = conversations.environment.service.arrivals()
        arrivals = Task { [weak self] in
            for await arrival in stream {
                guard let bodies = self?.bodies else { return }
                await bodies.prepare([arrival.message])
                self?.receive(arrival)
            }
        }
        list = ChangeSubscription(to: { [rooms = conversations.rooms] in rooms.state }) { [weak self] in
            self?.receive($0)
        }
    }

    isolated deinit { arrivals?.cancel() }

    func withdrawAll() {
        arrivals?.cancel()
        list = nil
        for room in shown { withdraw(room) }
    }

    // MARK: Arrivals

    private func receive(_ arrival: MessageArrival) {
        let message = arrival.message
        switch NotificationPolicy.decision(in: situation(of: arrival)) {
        case .silence: break
        case .notification(let content, let isImportant, let playsSound):
            var unread = unread[message.roomID] ?? Unread(newest: message.sentAt)
            unread.add(arrival, bodies, text)
            self.unread[message.roomID] = unread
            show(message, unread, content, isImportant: isImportant, playsSound: playsSound)
        case .summary(let playsSound):
            var unread = summarized[message.roomID] ?? Unread(newest: message.sentAt)
            unread.add(arrival, bodies, text)
            summarized[message.roomID] = unread
            showSummary(playsSound: playsSound)
        }
    }

    private func situation(of arrival: MessageArrival) -> NotificationPolicy.Situation {
        NotificationPolicy.Situation(
            preferences: surroundings.preferences.notifications, isLocked: surroundings.isLocked(),
            isAttended: isAttended(arrival.message.roomID), level: arrival.level, isSilent: arrival.isSilent,
            isMissed: arrival.isMissed)
    }

    private func show(
        _ message: Message, _ unread: Unread, _ content: NotificationPreferences.Content, isImportant: Bool,
        playsSound: Bool
    ) {
        let row = conversations.rooms.state.rows.first { $0.id == message.roomID }
        let isDirect = row?.kind == .direct
        let sender = unread.lines.last?.sender ?? ""
        let texts = text.texts(
            room: row?.name ?? sender, isDirect: isDirect, lines: unread.lines, count: unread.count, showing: content)
        present(
            RoomNotification(
                kind: .messages,
                target: NotificationTarget(account: account, room: message.roomID, message: message.id),
                title: texts.title, body: texts.body, avatar: content > .nothing ? row?.avatar : nil,
                isImportant: isImportant, playsSound: playsSound))
    }

    private func showSummary(playsSound: Bool) {
        guard let newest = summarized.max(by: { $0.value.newest < $1.value.newest }) else { return }
        let texts = text.summary(count: summarized.values.reduce(0) { $0 + $1.count }, rooms: summarized.count)
        present(
            RoomNotification(
                kind: .summary, target: NotificationTarget(account: account, room: newest.key), title: texts.title,
                body: texts.body, playsSound: playsSound), in: Self.summaryRoom)
    }

    // MARK: The room list

    private func receive(_ state: RoomListViewModel.State) {
        guard state.isLoaded else { return }
        let rows = Dictionary(state.rows.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for (room, entry) in unread where isRead(entry, rows[room]) {
            unread[room] = nil
            withdraw(room)
        }
        for room in unread.keys where rows[room]?.unreadCount ?? 0 > 0 { unread[room]?.isCounted = true }
        updateSummary(rows)
        updateInvitations(state)
        updateFailures(state)
    }

    /// Whether the messages were read on any device, or the room was left.
    private func isRead(_ unread: Unread, _ row: RoomListViewModel.Row?) -> Bool {
        guard let row else { return true }
        return row.unreadCount == 0 && (unread.isCounted || row.lastActivity >= unread.newest)
    }

    private func updateSummary(_ rows: [RoomID: RoomListViewModel.Row]) {
        guard !summarized.isEmpty else { return }
        for room in summarized.keys where rows[room]?.unreadCount ?? 0 > 0 { summarized[room]?.isCounted = true }
        // A summary's counts are not updated. It is withdrawn once all of its messages are read.
        guard summarized.allSatisfy({ isRead($0.value, rows[$0.key]) }) else { return }
        summarized = [:]
        withdraw(Self.summaryRoom)
    }

    private func updateInvitations(_ state: RoomListViewModel.State) {
        let pending = state.invitations.filter { !$0.isKnock }
        for room in invitations.subtracting(pending.map(\.room)) { withdraw(room) }
        for invitation in pending where !invitations.contains(invitation.room) {
            guard invitation.receivedAt >= surroundings.start, maySpeak(of: invitation.room) else { continue }
            let texts = text.invitation(invitation, showing: content)
            present(
                RoomNotification(
                    kind: .invitation, target: NotificationTarget(account: account, room: invitation.room),
                    title: texts.title, body: texts.body, avatar: content > .nothing ? invitation.avatar : nil,
                    playsSound: surroundings.preferences.notifications.playsSound))
        }
        invitations = Set(pending.map(\.room))
    }

    private func updateFailures(_ state: RoomListViewModel.State) {
        let failing = state.rows.filter(\.hasFailed)
        for room in (failed ?? []).subtracting(failing.map(\.id)) where unread[room] == nil { withdraw(room) }
        for row in failing where failed?.contains(row.id) == false {
            guard maySpeak(of: row.id) else { continue }
            let texts = text.failure(room: row.name, showing: content)
            present(
                RoomNotification(
                    kind: .failure, target: NotificationTarget(account: account, room: row.id), title: texts.title,
                    body: texts.body, avatar: content > .nothing ? row.avatar : nil,
                    playsSound: surroundings.preferences.notifications.playsSound))
        }
        failed = Set(failing.map(\.id))
    }

    // MARK: Showing

    private var content: NotificationPreferences.Content {
        NotificationPolicy.content(
            in: NotificationPolicy.Situation(
                preferences: surroundings.preferences.notifications, isLocked: surroundings.isLocked()))
    }

    private func maySpeak(of room: RoomID) -> Bool {
        !surroundings.preferences.notifications.isPaused && !isAttended(room)
    }

    private func isAttended(_ room: RoomID) -> Bool {
        guard let attended = surroundings.attended() else { return false }
        return attended.account == account && attended.room == room
    }

    private func present(_ notification: RoomNotification, in room: RoomID? = nil) {
        let room = room ?? notification.target.room
        shown.insert(room)
        surroundings.presenter.show(notification, as: id(room), media: conversations.media)
    }

    private func withdraw(_ room: RoomID) {
        shown.remove(room)
        surroundings.presenter.withdraw(id(room))
    }

    private func id(_ room: RoomID) -> String { NotificationTarget(account: account, room: room).text }
}

extension AccountNotifications.Unread {
    fileprivate mutating func add(_ arrival: MessageArrival, _ bodies: MessageBodies, _ text: NotificationText) {
        let message = arrival.message
        let quote = PlainPreview.quote(bodies.body(of: message), attachments: message.attachments)
        let line = message.kind == .sealed ? text.sealedMessage : quote.source
        lines.append(NotificationText.Line(sender: arrival.senderName, text: line))
        lines = lines.suffix(AccountNotifications.maxLines)
        count += 1
        newest = max(newest, message.sentAt)
    }
}
