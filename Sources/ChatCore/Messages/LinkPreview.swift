/// A preview of a linked page, from the server.
public struct LinkPreview: Equatable, Sendable, Codable {
    public var title: String
    /// May be empty.
    public var summary: String
    /// The name of the site; may be empty.
    public var site: String
    public var picture: MediaReference?

    /// Creates a preview. Texts are truncated, and reduced to one line without bidirectional control characters.
    /// - Returns: `nil` without a title.
    public init?(title: String?, summary: String?, site: String?, picture: MediaReference?) {
        self.title = Self.line(title, 200)
        self.summary = Self.line(summary, 300)
        self.site = Self.line(site, 60)
        self.picture = picture
        if self.title.isEmpty { return nil }
    }

    private static func line(_ text: String?, _ length: Int) -> String {
        let plain = (text ?? "").unicodeScalars.prefix(4 * length).filter { scalar in
            scalar.properties.isWhitespace || !HiddenCharacters.contains(scalar)
        }
        let words = String(String.UnicodeScalarView(plain)).split(whereSeparator: \.isWhitespace)
        let line = words.joined(separator: " ")
        return line.count > length ? String(line.prefix(length - 1)) + "…" : line
    }
}

extension MessageBody {
    /// The first link that gets a preview: an ordinary web link outside spoilers, without suspicious warnings.
    public var previewedLink: BodyLink? {
        // Limit the search in very long messages.
        for block in blocks.prefix(50) {
            guard case .text(let text) = block else { continue }
            for run in text.runs.prefix(200) {
                guard let link = run.link, run.spoiler == nil, !link.warnings.isSuspicious,
                    link.target.scheme == .https || link.target.scheme == .http, link.target.host != "matrix.to",
                    !link.target.hasCredentials, link.target.address.utf8.count <= 2000
                else { continue }
                return link
            }
        }
        return nil
    }
}
