public import ChatCore
import Composer

extension MessageItem {
    /// The warning about the message's sender, or `nil` without one or without content.
    public var visibleTrust: MessageTrust? { message.hasContent ? message.trust : nil }
}

extension MessageTrust {
    /// Whether the message may not be what it seems.
    public var isProblem: Bool {
        switch self {
        case .unproven: false
        case .notEncrypted, .changedIdentity: true
        }
    }

    public var iconName: String {
        switch self {
        case .unproven: "parlance-unproven-symbolic"
        case .notEncrypted: "parlance-unlocked-symbolic"
        case .changedIdentity: "parlance-warning-symbolic"
        }
    }
}

nonisolated extension MessageTrust? {
    /// The text of a message, behind the warning that the timeline shows beside it. Without that, what a server makes
    /// up in someone's name would look like their message wherever only its text is shown: in the room list,
    /// notifications, search results, quotes, and the composer's bar of a reply.
    func marking(_ text: String, _ translator: Translator) -> String {
        switch self {
        case .notEncrypted?: translator("Not encrypted: {text}", ["text": text])
        case .changedIdentity?: translator("Identity changed: {text}", ["text": text])
        // Neither does this warning stand out in the timeline.
        case .unproven?, nil: text
        }
    }

    /// The same for a text with mentions, which stay on their names.
    func marking(_ text: WrittenText, _ translator: Translator) -> WrittenText {
        // An invisible character before Markdown's “_” would make it a letter, and drafts store the text.
        let translator = translator.plain
        let source = marking(text.source, translator)
        guard source != text.source else { return text }
        // A private-use character stands for the text, whose words may also occur in the warning.
        let parts = marking("\u{F8FF}", translator).split(separator: "\u{F8FF}", omittingEmptySubsequences: false)
        let start = parts.count == 2 ? parts[0].utf16.count : nil
        let marks = start.map { start in
            text.marks.map { mark in
                var moved = mark
                moved.range.location += start
                return moved
            }
        }
        // Rather no mentions than in the wrong place.
        return WrittenText(source, syntax: text.syntax, marks: marks ?? []) ?? WrittenText(source, syntax: text.syntax)
    }
}

extension MessageText {
    /// The warning as a sentence.
    public func trust(_ trust: MessageTrust) -> String {
        switch trust {
        case .unproven: translator("Who sent this message cannot be proven on this device.")
        case .notEncrypted: translator("Not encrypted")
        case .changedIdentity: translator("This person’s identity changed after you verified it.")
        }
    }

    /// The warning explained at length.
    public func explanation(_ trust: MessageTrust) -> String {
        switch trust {
        case .unproven:
            translator(
                "The key of this message comes from a backup or a file, which does not prove who sent the message.")
        case .notEncrypted:
            translator(
                "This message or its file was sent unencrypted into an encrypted room. Others may have read it.")
        case .changedIdentity:
            translator(
                "The identity that sent this message is not the one that you verified. Someone else may have sent it.")
        }
    }

    /// The label of the button below an unreadable message.
    public func button(_ help: SealHelp) -> String {
        switch help {
        case .restoreKeys: translator("Restore Keys…")
        case .confirmDevice: translator("Confirm This Device…")
        case .retry: translator("Retry")
        }
    }
}
