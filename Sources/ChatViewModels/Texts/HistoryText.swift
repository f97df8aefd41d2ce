import ChatCore

/// The texts of a message's edit history.
public struct HistoryText {
    /// A version as it is listed.
    public nonisolated struct Entry: Equatable, Sendable {
        public let version: MessageVersion
        /// When it was sent or edited.
        public let title: String
        /// Says what was added and removed, in words.
        public let accessibleText: String
    }

    private let wording: Wording
    private var translator: Translator { wording.translator }

    public init(_ wording: Wording) {
        self.wording = wording
    }

    /// - Parameter versions: newest first; the last one is the original message.
    public func entries(_ versions: [MessageVersion]) -> [Entry] {
        versions.enumerated().map { index, version in
            Entry(
                version: version, title: title(of: version, isOriginal: index == versions.count - 1),
                accessibleText: accessibleText(of: version))
        }
    }

    private func title(of version: MessageVersion, isOriginal: Bool) -> String {
        let date = ["date": wording.fullDate(version.writtenAt)]
        return isOriginal ? translator("Sent {date}", date) : translator("Edited {date}", date)
    }

    private func accessibleText(of version: MessageVersion) -> String {
        version.segments.map { segment in
            switch segment.change {
            case .unchanged: segment.text
            case .added: translator("Added: {text}.", ["text": segment.text])
            case .removed: translator("Removed: {text}.", ["text": segment.text])
            }
        }.joined(separator: " ")
    }
}
