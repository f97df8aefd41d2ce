public import Composer

extension Message {
    /// What a message says: the one form of it, from the event or the composer to the store and the timeline.
    public struct Content: Equatable, Sendable {
        public var kind: Kind
        /// The plain text. Empty once deleted.
        public var text: String
        /// The HTML of the sender's client. Untrusted until sanitized.
        public var formattedText: String?
        /// The source text, of a message written in this application.
        public var written: WrittenText?
        /// See ``Wording/mentionsEveryone``.
        public var mentionsEveryone: Bool
        /// The attachments in order. Empty once deleted.
        public var attachments: [MediaReference]
        /// The state change that a message of the kind `event` stands for. Its sender caused the change.
        public var event: RoomEvent?
        /// Why a message of the kind `sealed` cannot be read. It has no other content.
        public var seal: SealReason?

        public init(
            _ text: String = "", kind: Kind = .text, formattedText: String? = nil, written: WrittenText? = nil,
            mentionsEveryone: Bool = false, attachments: [MediaReference] = []
        ) {
            self.kind = kind
            self.text = text
            self.formattedText = formattedText
            self.written = written
            self.mentionsEveryone = mentionsEveryone
            self.attachments = attachments
        }

        /// The content of a message that stands for a state event.
        public init(_ event: RoomEvent) {
            self.init(kind: .event)
            self.event = event
        }

        /// The content of a message that cannot be read.
        public init(sealed reason: SealReason) {
            self.init(kind: .sealed)
            seal = reason
        }

        /// The text in all its forms.
        public var wording: Wording {
            get { Wording(text, html: formattedText, written: written, mentionsEveryone: mentionsEveryone) }
            set {
                text = newValue.text
                formattedText = newValue.html
                written = newValue.written
                mentionsEveryone = newValue.mentionsEveryone
            }
        }
    }
}
