import ChatCore
import Composer
import ComposerSessions
import Foundation
import Observation

/// The notifications of one account: at most one per room.
@MainActor
final class AccountNotifications {
    /// A room's messages in a notification.
    fileprivate struct Unread {
        struct Entry {
            let message: MessageID
            var line: NotificationText.Line
            let isMention: Bool
        }

        /// The latest messages.
        var entries: [Entry] = []
        /// All messages, which may be more than the entries.
        var messages: Set<MessageID> = []
        /// When the newest of those was sent that the user had not read before they came; `nil` if there are none.
        var newest: Date?
        /// Whether the room list has counted them. Before that, it reports no unread messages.
        var isCounted = false
        /// Whether the room list has had the room. Before that, it is missing there, as one that was left is.
        var wasListed = false
        /// The texts that were shown last.
        var title = ""
        var body = ""
    }

    fileprivate static let maxLines = 8
    /// How many messages of a room are compared with the notification when its changes begin to be observed.
    private static let comparedMessages = 50
    private static let summaryRoom = RoomID("")
    /// The least time between two changes of a notification, of which a room may have many a second.
    private static let updateInterval = Duration.seconds(1)

    private let account: String
    private let conversations: ConversationCoordinator
    private let surroundings: NotificationCoordinator.Surroundings
    private let bodies: MessageBodies
    private let replies: ReplyPermissions
    private var unread: [RoomID: Unread] = [:]
    /// Messages that arrived while catching up, by room.
    private var summarized: [RoomID: Unread] = [:]
    private var invitations: Set<RoomID> = []
    /// The rooms with a notification that was not withdrawn; the summary has ``summaryRoom``.
    private(set) var shown: Set<RoomID> = []
    /// `nil` until the list is loaded. Messages that failed before do not notify.
    private var failed: Set<RoomID>?
    private var arrivals: Task<Void, Never>?
    /// Observe changes of the messages in ``unread``.
    private var observations: [RoomID: Task<Void, Never>] = [:]
    /// When a change of a room's messages was shown last.
    private var updates: [RoomID: Duration] = [:]
    /// Show the latest change of a room's messages later.
    private var waitingUpdates: [RoomID: Task<Void, Never>] = [:]
    private var earlier: EarlierNotifications?
    private var list: ChangeSubscription?
    private var attention: ChangeSubscription?

    private var text: NotificationText { surroundings.text }

    init(
        _ account: String, of conversations: ConversationCoordinator,
        in surroundings: NotificationCoordinator.Surroundings
    ) {
        self.account = account
        self.conversations = conversations
        self.surroundings = surroundings
        bodies = MessageBodies(readsPlainTexts: conversations.environment.readsPlainTexts)
        replies = ReplyPermissions(service: conversations.environment.service)
        let stream = conversations.environment.service.arrivals()
        arrivals = Task { [weak self] in
            for await arrival in stream {
                guard let bodies = self?.bodies else { return }
                await bodies.prepare([arrival.message])
                await self?.checkReplies(to: arrival)
                self?.receive(arrival)
            }
        }
        earlier = EarlierNotifications(time: conversations.environment.time, summary: Self.summaryRoom) { [weak self] in
            self?.withdrawOutdated($0)
        }
        list = ChangeSubscription(to: { [rooms = conversations.rooms] in rooms.state }) { [weak self] in
            self?.receive($0)
        }
        attention = ChangeSubscription(to: { surroundings.attended() }) { [weak self] in self?.attend($0) }
    }

    isolated deinit {
        arrivals?.cancel()
        for task in [Task<Void, Never>](observations.values) + waitingUpdates.values { task.cancel() }
    }

    func withdrawAll() {
        arrivals?.cancel()
        (list, attention, earlier) = (nil, nil, nil)
        for room in observations.keys { endObservation(of: room) }
        for room in waitingUpdates.keys { endUpdates(of: room) }
        for room in shown { withdraw(room) }
    }

    // MARK: Arrivals

    private func checkReplies(to arrival: MessageArrival) async {
        guard case .notification = NotificationPolicy.decision(in: situation(of: arrival)) else { return }
        await replies.check(arrival.message.roomID)
    }

    private func receive(_ arrival: MessageArrival) {
        let message = arrival.message
        switch NotificationPolicy.decision(in: situation(of: arrival)) {
        case .silence: break
        case .notification(let content, let isImportant, let playsSound):
            var entry = unread[message.roomID] ?? Unread()
            entry.add(arrival, line(message, by: arrival.senderName))
            // The list may have counted it before it was announced.
            entry.note(row(of: message.roomID))
            unread[message.roomID] = entry
            show(message.roomID, content, isImportant: isImportant, playsSound: playsSound)
            observe(message.roomID)
        case .summary(let playsSound):
            var entry = summarized[message.roomID] ?? Unread()
            entry.add(arrival, line(message, by: arrival.senderName))
            entry.note(row(of: message.roomID))
            summarized[message.roomID] = entry
            showSummary(playsSound: playsSound)
        }
    }

    private func situation(of arrival: MessageArrival) -> NotificationPolicy.Situation {
        NotificationPolicy.Situation(
            preferences: surroundings.preferences.notifications, isLocked: surroundings.isLocked(),
            isAttended: isAttended(arrival.message.roomID), level: arrival.level, isSilent: arrival.isSilent,
            isMissed: arrival.isMissed)
    }

    private func row(of room: RoomID) -> RoomListViewModel.Row? {
        conversations.rooms.state.rows.first { $0.id == room }
    }

    private func line(_ message: Message, by sender: String) -> NotificationText.Line {
        let quote = PlainPreview.quote(bodies.body(of: message), attachments: message.attachments)
        return NotificationText.Line(
            sender: sender,
            text: message.kind == .sealed
                ? text.sealedMessage : message.trust.marking(quote.source, text.translator))
    }

    /// - Parameter isUpdate: Whether nothing has arrived: a notification that looks the same is not shown again.
    /// - Returns: whether it was shown.
    @discardableResult
    private func show(
        _ room: RoomID, _ content: NotificationPreferences.Content, isImportant: Bool, playsSound: Bool,
        isUpdate: Bool = false
    ) -> Bool {
        guard let entry = unread[room] else { return false }
        let row = row(of: room)
        let texts = text.texts(
            room: row?.name ?? entry.entries.last?.line.sender ?? "", isDirect: row?.kind == .direct,
            lines: entry.entries.map(\.line), count: entry.messages.count, showing: content)
        if isUpdate, texts == (entry.title, entry.body) { return false }
        unread[room]?.title = texts.title
        unread[room]?.body = texts.body
        present(
            RoomNotification(
                kind: .messages,
                target: NotificationTarget(account: account, room: room, message: entry.entries.last?.message),
                title: texts.title, body: texts.body, avatar: content > .nothing ? row?.avatar : nil,
                isImportant: isImportant, playsSound: playsSound, acceptsReply: replies.acceptsReply(room)))
        return true
    }

    private func showSummary(playsSound: Bool) {
        guard let newest = summarized.max(by: { $0.value.date < $1.value.date }) else { return }
        let texts = text.summary(count: summarized.values.reduce(0) { $0 + $1.messages.count }, rooms: summarized.count)
        present(
            RoomNotification(
                kind: .summary, target: NotificationTarget(account: account, room: newest.key), title: texts.title,
                body: texts.body, playsSound: playsSound), in: Self.summaryRoom)
    }

    // MARK: Changes of messages

    private func observe(_ room: RoomID) {
        guard observations[room] == nil else { return }
        let stream = conversations.environment.service.timeline(of: room, limit: Self.comparedMessages)
        observations[room] = Task { [weak self, bodies] in
            for await update in stream {
                guard let changed = self?.messages(changedBy: update, in: room) else { return }
                await bodies.prepare(changed)
                guard !Task.isCancelled else { return }
                self?.apply(update, changed, in: room)
            }
            // The next message begins another one.
            if !Task.isCancelled { self?.observations[room] = nil }
        }
    }

    private func endObservation(of room: RoomID) { observations.removeValue(forKey: room)?.cancel() }

    /// Returns the messages of the notification that an update may change.
    private func messages(changedBy update: TimelineUpdate, in room: RoomID) -> [Message] {
        guard let known = unread[room]?.messages else { return [] }
        return switch update {
        case .opened(let page, _, _): page.messages.filter { known.contains($0.id) }
        case .changed(let messages): messages.filter { known.contains($0.id) }
        case .removed, .members, .membersChanged, .encrypted, .typing, .closed: []
        }
    }

    private func apply(_ update: TimelineUpdate, _ changed: [Message], in room: RoomID) {
        guard var entry = unread[room] else { return }
        if case .removed(let ids) = update { entry.remove(ids) }
        entry.remove(changed.filter(\.isDeleted).map(\.id))
        for message in changed {
            guard let index = entry.entries.firstIndex(where: { $0.message == message.id }) else { continue }
            entry.entries[index].line = line(message, by: entry.entries[index].line.sender)
        }
        guard !entry.messages.isEmpty else { return forget(room) }
        unread[room] = entry
        noteChange(of: room)
    }

    /// Shows a room's notification as it is now, or as it is once the interval is over.
    private func noteChange(of room: RoomID) {
        guard waitingUpdates[room] == nil else { return }
        let time = conversations.environment.time
        guard let last = updates[room], time.now() < last + Self.updateInterval else { return showUpdate(room) }
        waitingUpdates[room] = Task { [weak self] in
            do { try await time.sleep(last + Self.updateInterval) } catch { return }
            guard !Task.isCancelled else { return }
            self?.waitingUpdates[room] = nil
            self?.showUpdate(room)
        }
    }

    private func showUpdate(_ room: RoomID) {
        guard let entry = unread[room] else { return }
        let isShown = show(
            room, content, isImportant: entry.entries.contains(where: \.isMention), playsSound: false, isUpdate: true)
        if isShown { updates[room] = conversations.environment.time.now() }
    }

    private func endUpdates(of room: RoomID) {
        waitingUpdates.removeValue(forKey: room)?.cancel()
        updates[room] = nil
    }

    /// Withdraws a room's notification.
    private func forget(_ room: RoomID) {
        unread[room] = nil
        endObservation(of: room)
        endUpdates(of: room)
        withdraw(room)
    }

    /// Withdraws what the room list never counts, as it had been read before.
    private func attend(_ attended: AccountsCoordinator.DisplayedRoom?) {
        guard let attended, attended.account == account, let room = attended.room, let entry = unread[room],
            entry.newest == nil
        else { return }
        forget(room)
    }

    // MARK: The room list

    private func receive(_ state: RoomListViewModel.State) {
        guard state.isLoaded else { return }
        // Before this process withdraws its own.
        earlier?.receive(state)
        let rows = Self.rows(of: Set(unread.keys).union(summarized.keys), in: state)
        for (room, entry) in unread where isRead(entry, rows[room]) { forget(room) }
        for room in unread.keys { unread[room]?.note(rows[room]) }
        updateSummary(rows)
        updateInvitations(state)
        updateFailures(state)
    }

    /// Returns the rows of these rooms: each letter of a draft asks for those of rooms with notifications, mostly none.
    static func rows(of rooms: Set<RoomID>, in state: RoomListViewModel.State) -> [RoomID: RoomListViewModel.Row] {
        guard !rooms.isEmpty else { return [:] }
        let found = state.rows.lazy.filter { rooms.contains($0.id) }.map { ($0.id, $0) }
        return Dictionary(found, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the messages were read on any device, or the room was left.
    private func isRead(_ unread: Unread, _ row: RoomListViewModel.Row?) -> Bool {
        guard let row else { return unread.wasListed }
        guard row.unreadCount == 0 else { return false }
        return unread.isCounted || unread.newest.map { row.lastActivity >= $0 } ?? false
    }

    private func updateSummary(_ rows: [RoomID: RoomListViewModel.Row]) {
        guard !summarized.isEmpty else { return }
        for room in summarized.keys { summarized[room]?.note(rows[room]) }
        // A summary's counts are not updated. It is withdrawn once all of its messages are read.
        guard summarized.allSatisfy({ isRead($0.value, rows[$0.key]) }) else { return }
        summarized = [:]
        withdraw(Self.summaryRoom)
    }

    private func updateInvitations(_ state: RoomListViewModel.State) {
        let pending = state.invitations.filter { !$0.isKnock }
        // The first message of a room that was joined elsewhere may have replaced its invitation.
        for room in invitations.subtracting(pending.map(\.room)) where unread[room] == nil { withdraw(room) }
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

    /// Withdraws what an earlier process may have shown of rooms that have nothing to be seen any more.
    private func withdrawOutdated(_ rooms: [RoomID]) {
        let rows = Self.rows(of: Set(rooms), in: conversations.rooms.state)
        for room in rooms where !shown.contains(room) {
            if let row = rows[room], row.unreadCount > 0 || row.hasFailed { continue }
            withdraw(room)
        }
    }

    private func withdraw(_ room: RoomID) {
        shown.remove(room)
        surroundings.presenter.withdraw(id(room))
    }

    private func id(_ room: RoomID) -> String { NotificationTarget(account: account, room: room).text }
}

extension AccountNotifications.Unread {
    fileprivate var date: Date { newest ?? .distantPast }

    /// Adds a message, or replaces it: one that an edit makes a mention may arrive again.
    fileprivate mutating func add(_ arrival: MessageArrival, _ line: NotificationText.Line) {
        let message = arrival.message
        entries.removeAll { $0.message == message.id }
        entries.append(Entry(message: message.id, line: line, isMention: arrival.level == .mention))
        entries = entries.suffix(AccountNotifications.maxLines)
        messages.insert(message.id)
        if !arrival.wasRead { newest = max(date, message.sentAt) }
    }

    /// - Parameter row: what the room list says of the room, if it has it.
    fileprivate mutating func note(_ row: RoomListViewModel.Row?) {
        guard let row else { return }
        wasListed = true
        if row.unreadCount > 0 { isCounted = true }
    }

    fileprivate mutating func remove(_ removed: [MessageID]) {
        messages.subtract(removed)
        entries.removeAll { removed.contains($0.message) }
    }
}
