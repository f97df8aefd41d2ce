public import ChatCore
public import ChatViewModels
import ComposerGtk
import Foundation
public import GtkKit
import MediaGtk

/// Shows the notifications of rooms through the desktop's notifier, with the rooms' avatars.
public final class RoomNotifier: RoomNotificationPresenter {
    /// The application's actions for notifications. Each takes a ``NotificationTarget`` as text.
    public enum AnswerAction: String, CaseIterable {
        case open = "open-message"
        case reply
        case markRead = "mark-read"
    }

    /// A notification that waits for its avatar.
    private struct Waiting {
        let loading: Task<Void, Never>
        let limit: Timeout
        let playsSound: Bool
    }

    /// The maximum time for which a notification waits for its avatar.
    private static let avatarTime = Duration.seconds(2)
    private static let avatarSide = 128

    private let notifier: any Notifier
    private var waiting: [String: Waiting] = [:]

    /// - Parameter onReply: receives inline replies, on desktops that support them.
    public init(
        _ notifier: any Notifier,
        onReply: @escaping @MainActor (NotificationTarget, _ text: String) -> Void = { _, _ in }
    ) {
        self.notifier = notifier
        notifier.onReply = { target, text in
            if let target = NotificationTarget(target) { onReply(target, text) }
        }
    }

    public func show(_ notification: RoomNotification, as id: String, media: any MediaService) {
        guard waiting[id]?.playsSound == true, !notification.playsSound else {
            return present(notification, as: id, media: media)
        }
        // The sound of what it replaces was not played yet.
        var audible = notification
        audible.playsSound = true
        present(audible, as: id, media: media)
    }

    private func present(_ notification: RoomNotification, as id: String, media: any MediaService) {
        cancel(id)
        guard let avatar = notification.avatar else { return send(notification, nil, as: id) }
        // Use pixels from the confined decoder: no other program should parse a stranger's file.
        let loading = Task { [weak self] in
            let image = await MediaPreviews(service: media).image(
                of: MediaReference(uri: avatar, name: "", type: "image/*"), fitting: Self.avatarSide,
                by: Self.avatarSide)
            let icon = await Self.icon(image)
            guard !Task.isCancelled else { return }
            self?.cancel(id)
            self?.send(notification, icon, as: id)
        }
        let limit = Timeout(after: Self.avatarTime) { [weak self] in
            self?.cancel(id)
            self?.send(notification, nil, as: id)
        }
        waiting[id] = Waiting(loading: loading, limit: limit, playsSound: notification.playsSound)
    }

    /// Off the main thread: compressing takes milliseconds.
    @concurrent
    private nonisolated static func icon(_ image: DecodedImage?) async -> Data? { image?.png }

    public func withdraw(_ id: String) {
        cancel(id)
        notifier.withdraw(id)
    }

    private func cancel(_ id: String) {
        guard let entry = waiting.removeValue(forKey: id) else { return }
        entry.loading.cancel()
        entry.limit.cancel()
    }

    private func send(_ notification: RoomNotification, _ icon: Data?, as id: String) {
        let target = notification.target.text
        let reply = DesktopNotification.Button(
            translated("Reply"), .init(AnswerAction.reply.rawValue, target), acceptsText: true)
        let markRead = DesktopNotification.Button(
            translated("Mark as Read"), .init(AnswerAction.markRead.rawValue, target))
        let buttons = notification.acceptsReply ? [reply, markRead] : [markRead]
        notifier.send(
            DesktopNotification(
                title: notification.title, body: notification.body, icon: icon, category: "im.received",
                isImportant: notification.isImportant, playsSound: notification.playsSound,
                defaultAction: .init(AnswerAction.open.rawValue, target),
                buttons: notification.isAnswerable ? buttons : []), as: id)
    }
}
