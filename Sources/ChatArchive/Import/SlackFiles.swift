import Foundation
import JSONReading

/// The files that programs fetch into Slack's exports, which by themselves have addresses alone.
struct SlackFiles {
    private let paths: Set<String>
    private let base: String

    /// - Parameters:
    ///   - paths: all files of the export.
    ///   - base: the folder in which the lists lie, with a slash behind it, or empty.
    init(_ paths: some Sequence<String>, base: String) {
        self.paths = Set(paths)
        self.base = base
    }

    /// Where the file of a message lies.
    /// - Parameter folder: the conversation's.
    /// - Returns: nil if it was not fetched.
    func path(of file: JSONValue, in folder: String) -> String? {
        var candidates: [String] = []
        for key in ["local_path", "path", "url_private_download", "url_private"] {
            // What was fetched is named by its place in the export instead of its address.
            guard let path = file[key]?.string, !path.contains("://"), !path.hasPrefix("/") else { continue }
            let plain = path.removingPercentEncoding ?? path
            candidates += [path, plain, "\(folder)/\(path)", "\(folder)/\(plain)"]
        }
        if let id = file["id"]?.string, let name = file["name"]?.string {
            // slackdump's and slack-advanced-exporter's places.
            candidates += [
                "__uploads/\(id)/\(name)", "\(folder)/attachments/\(id)-\(name)", "attachments/\(id)-\(name)",
                "files/\(id)/\(name)", "\(folder)/\(id)-\(name)",
            ]
        }
        return candidates.lazy.map { base + $0 }.first { paths.contains($0) }
    }
}
