import Foundation
import JSONReading

/// Files that third-party tools have downloaded into a Slack export, which by itself contains only URLs.
struct SlackFiles {
    private let paths: Set<String>
    private let base: String

    /// - Parameters:
    ///   - paths: All files of the export.
    ///   - base: The folder of the lists with a trailing slash, or empty.
    init(_ paths: some Sequence<String>, base: String) {
        self.paths = Set(paths)
        self.base = base
    }

    /// Returns the path of a message's file.
    /// - Parameter folder: The conversation's folder.
    /// - Returns: `nil` if it was not downloaded.
    func path(of file: JSONValue, in folder: String) -> String? {
        var candidates: [String] = []
        for key in ["local_path", "path", "url_private_download", "url_private"] {
            // Download tools replace the URL with the path in the export.
            guard let path = file[key]?.string, !path.contains("://"), !path.hasPrefix("/") else { continue }
            let plain = path.removingPercentEncoding ?? path
            candidates += [path, plain, "\(folder)/\(path)", "\(folder)/\(plain)"]
        }
        if let id = file["id"]?.string, let name = file["name"]?.string {
            // The paths of slackdump and slack-advanced-exporter.
            candidates += [
                "__uploads/\(id)/\(name)", "\(folder)/attachments/\(id)-\(name)", "attachments/\(id)-\(name)",
                "files/\(id)/\(name)", "\(folder)/\(id)-\(name)",
            ]
        }
        return candidates.lazy.map { base + $0 }.first { paths.contains($0) }
    }
}
