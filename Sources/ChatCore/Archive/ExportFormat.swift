/// The file format of an export.
public enum ExportFormat: String, CaseIterable, Sendable {
    /// A web page.
    case html
    case markdown
    /// All data, for other programs.
    case json

    public var fileExtension: String {
        switch self {
        case .html: "html"
        case .markdown: "md"
        case .json: "json"
        }
    }
}
