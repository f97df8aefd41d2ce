public import ChatCore
public import Composer

/// The texts of attached files.
public struct AttachmentText {
    private let translator: Translator
    private let byteCount: (Int) -> String

    /// - Parameter byteCount: formats a number of bytes, such as `1.2 MB`.
    public init(_ translator: Translator, byteCount: @escaping (Int) -> String) {
        self.translator = translator
        self.byteCount = byteCount
    }

    /// The line below the name: the size, or the upload's state.
    public func detail(_ attachment: Attachment) -> String {
        switch attachment.upload {
        case .ready: byteCount(attachment.bytes)
        case .running: translator("Attaching…")
        case .failed: translator("Could not attach")
        }
    }

    /// The accessible label of the file.
    public func accessibleText(_ attachment: Attachment) -> String {
        translator.list([attachment.name, detail(attachment)])
    }

    /// The accessible description: the file's own, or else the keys. These come first for a file that can be attached
    /// only by one of them.
    /// - Parameter canRetry: whether attaching it has failed and can be retried.
    public func accessibleDescription(_ attachment: Attachment, canRetry: Bool = false) -> String {
        if canRetry {
            return translator(
                "Press Return to retry, Delete to remove, Space to describe, Alt+Left or Alt+Right to move")
        }
        if let altText = attachment.altText { return altText }
        return attachment.canBePlacedInText
            ? translator(
                "Press Delete to remove, Return to describe, Insert to place in text, Alt+Left or Alt+Right to move")
            : translator("Press Delete to remove, Return to describe, Alt+Left or Alt+Right to move")
    }

    public func tooltip(_ attachment: Attachment) -> String { attachment.altText ?? attachment.name }

    public func removeButton(_ attachment: Attachment) -> String {
        translator("Remove {name}", ["name": attachment.name])
    }

    /// The accessible label of an image in the text.
    /// - Parameter attachment: `nil` if it was removed.
    public func inlineImage(_ attachment: Attachment?) -> String {
        attachment.map { tooltip($0) } ?? translator("Removed image")
    }

    /// The name of an image from the clipboard.
    /// - Parameter type: its MIME type.
    public func nameOfPastedImage(_ type: String) -> String {
        let subtype = type.split(separator: "/").last.map(String.init) ?? "bin"
        return translator("Pasted image") + "." + (subtype == "jpeg" ? "jpg" : subtype)
    }
}

extension Attachment {
    public nonisolated var isImage: Bool { type.hasPrefix("image/") }
    public nonisolated var isVideo: Bool { type.hasPrefix("video/") }
    /// Whether it can be moved from the tray into the text (MIB-19).
    public nonisolated var canBePlacedInText: Bool { isImage && upload == .ready }
}
