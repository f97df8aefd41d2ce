/// The draft of a room to which no messages can be sent.
public nonisolated struct HiddenDraft: Equatable, Sendable {
    public var text: String
    /// The names of its files.
    public var files: [String] = []
    /// Whether it can be moved to the room that replaced this one.
    public var canBeMoved = false

    /// The first line of the text, or the names of the files.
    public var preview: String {
        text.split(whereSeparator: \.isNewline).first.map { String($0.prefix(200)) } ?? files.joined(separator: ", ")
    }
}
