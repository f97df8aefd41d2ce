/// What a room can be written as.
public enum ExportFormat: String, CaseIterable, Sendable {
    /// A page for a browser.
    case html
    case markdown
    /// For programs: all that is known.
    case json

    public var fileExtension: String {
        switch self {
        case .html: "html"
        case .markdown: "md"
        case .json: "json"
        }
    }
}
