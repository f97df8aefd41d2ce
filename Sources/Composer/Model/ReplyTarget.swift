/// The message being replied to.
public struct ReplyTarget: Hashable, Sendable, Codable {
    /// The state of the preview of the message's text.
    public enum Preview: Hashable, Sendable, Codable {
        case loading
        /// The text without Markdown, with its mentions.
        case text(WrittenText)
        /// Deleted or unavailable.
        case gone

        public static func text(_ words: String) -> Self { .text(WrittenText(words, syntax: .plain)) }
    }

    public var messageID: String
    /// The display name of the sender.
    public var sender: String
    /// The sender's identifier in the host, or `nil` if unknown. A reply notifies them.
    public var senderID: String?
    public var preview: Preview

    public init(messageID: String, sender: String, senderID: String? = nil, preview: Preview = .loading) {
        self.messageID = messageID
        self.sender = sender
        self.senderID = senderID
        self.preview = preview
    }
}

extension ReplyTarget.Preview {
    private enum Keys: String, CodingKey { case loading, text, gone }
    private struct Text: Codable { var _0: WrittenText }
    private struct FirstText: Decodable { var _0: String }
    private struct Nothing: Codable {}

    /// Also decodes version 1, in which previews are plain strings.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        if container.contains(.loading) {
            self = .loading
        } else if container.contains(.gone) {
            self = .gone
            // A failure means that it isn't version 1.
        } else if let words = try? container.decode(FirstText.self, forKey: .text) {
            self = .text(words._0)
        } else {
            self = .text(try container.decode(Text.self, forKey: .text)._0)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        switch self {
        case .loading: try container.encode(Nothing(), forKey: .loading)
        case .text(let words): try container.encode(Text(_0: words), forKey: .text)
        case .gone: try container.encode(Nothing(), forKey: .gone)
        }
    }
}
