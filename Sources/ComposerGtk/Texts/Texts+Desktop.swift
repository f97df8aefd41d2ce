import ChatCore
import ComposerSessions
import GtkKit

extension ComposerText {
    static let desktop = ComposerText(.gettext)
}

extension CompletionText {
    static let desktop = CompletionText(.gettext)
}

extension AttachmentText {
    static let desktop = AttachmentText(.gettext, byteCount: { ByteCount.text($0) })
}
