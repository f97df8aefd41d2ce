public import ChatCore

/// The preview below a room's name, with what precedes the text of a draft or of an unsent message on its own: the view
/// colors it.
public nonisolated struct PreviewLine: Equatable, Sendable {
    public nonisolated enum Emphasis: Equatable, Sendable {
        case draft, failure
    }

    /// The words before the text, such as “Draft:”; empty if there are none.
    public var prefix = ""
    public var emphasis: Emphasis?
    /// The text, with the words that follow it in some languages.
    public var text: String

    init(_ text: String) {
        self.text = text
    }

    /// - Parameter sentence: returns the translated sentence with a text in it.
    init(_ text: String, emphasis: Emphasis, in sentence: (String) -> String) {
        // A private-use character stands for the text, which may contain the words itself.
        let parts = sentence("\u{F8FF}").split(separator: "\u{F8FF}", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts.first, let last = parts.last else {
            self.text = sentence(text)
            return
        }
        let end = first.lastIndex { !$0.isWhitespace }
        prefix = end.map { String(first[...$0]) } ?? ""
        self.emphasis = prefix.isEmpty ? nil : emphasis
        self.text = text + last
    }
}

extension RoomListViewModel.Row {
    /// The line below the name, as it is drawn.
    public nonisolated func previewLine(_ translator: Translator) -> PreviewLine {
        emphasizedLine(translator.plain) ?? PreviewLine(previewText(translator))
    }

    /// - Parameter translator: isolates nothing, as the text is drawn apart from what precedes it.
    private nonisolated func emphasizedLine(_ translator: Translator) -> PreviewLine? {
        switch preview {
        case .draft(let text):
            PreviewLine(text, emphasis: .draft) { translator("Draft: {text}", ["text": $0]) }
        case .failed(let text):
            PreviewLine(text, emphasis: .failure) { translator("Not sent: {text}", ["text": $0]) }
        default: nil
        }
    }

    /// The text of the row's badge, or `nil` without a badge: an “@” for mentions, with their number if there are
    /// several; otherwise the number of unread messages; or a dot if the user has marked the room as unread, even while
    /// it is open.
    /// - Parameter isInView: whether the room's messages are visible beside the list.
    public nonisolated func badge(isInView: Bool) -> String? {
        let label = isInView ? nil : mentionLabel ?? unreadLabel
        return label ?? (isMarkedUnread ? "•" : nil)
    }

    /// Whether the name is bold.
    /// - Parameter isInView: as in ``badge(isInView:)``.
    public nonisolated func isUnread(isInView: Bool) -> Bool {
        isMarkedUnread || unreadCount > 0 && !isInView
    }
}

extension RoomListViewModel.Section.Kind {
    /// The title of the section.
    public nonisolated func title(_ translator: Translator) -> String {
        switch self {
        case .invitations: translator("Invitations")
        case .direct: translator("Direct Chats")
        case .rooms: translator("Rooms")
        }
    }
}

extension RoomListViewModel.State {
    /// Whether the sections have titles: a single section of rooms needs none.
    public nonisolated var hasSectionTitles: Bool {
        let sections = sections
        return sections.count > 1 || sections.first?.kind == .invitations
    }

    /// Whether another state has the same rooms in the same sections and order, and the same invitations.
    public nonisolated func isArranged(as other: Self) -> Bool {
        invitationRows == other.invitationRows
            && rows.elementsEqual(other.rows) { $0.id == $1.id && ($0.kind == .direct) == ($1.kind == .direct) }
    }
}
