public import Composer
import ComposerSessions

/// What the bar's own ``ComposerBar/session`` hands to the host.
extension ComposerBar {
    /// Delivers a message. Meanwhile the bar shows that it sends; if this throws, the message returns to the bar.
    /// Replaces the `send` signal.
    public var onSend: ((ComposedMessage) async throws -> Void)? {
        get { session.onSend }
        set { session.onSend = newValue }
    }

    /// Saves an edited message, by its ID; if this throws, the edit is opened again. Replaces the `edit-committed`
    /// signal.
    public var onEdit: ((String, ComposedMessage) async throws -> Void)? {
        get { session.onEdit }
        set { session.onEdit = newValue }
    }
}
