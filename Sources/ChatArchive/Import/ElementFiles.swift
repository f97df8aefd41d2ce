import Foundation

/// The media files beside Element's `export.json`: in a folder per type, with the file name and the localized export
/// time, such as `images/rose-1-1-2024 at 11-00-06 AM.jpg`.
struct ElementFiles {
    private var byFolder: [String: [String]] = [:]
    private let base: String

    /// - Parameters:
    ///   - paths: All files of the export.
    ///   - base: The folder of `export.json` with a trailing slash, or empty.
    init(_ paths: some Sequence<String>, base: String) {
        self.base = base
        for path in paths where path.hasPrefix(base) {
            let components = path.dropFirst(base.count).split(separator: "/", maxSplits: 1)
            guard components.count == 2 else { continue }
            byFolder[String(components[0]), default: []].append(String(components[1]))
        }
        for folder in byFolder.keys { byFolder[folder]?.sort() }
    }

    /// Returns the path of a message's file.
    /// - Parameters:
    ///   - body: The message's `body`, which is the file name or the caption.
    ///   - kind: The `msgtype`, or `m.sticker`.
    /// - Returns: `nil` if no file matches, or several do.
    func path(of body: String, kind: String, isVoice: Bool, sentAt: Date) -> String? {
        let folder =
            switch kind {
            case "m.image": "images"
            case "m.video": "videos"
            case "m.audio": "audio"
            case "m.sticker": "stickers"
            default: "files"
            }
        guard let names = byFolder[folder] else { return nil }
        let dot = body.lastIndex(of: ".") ?? body.endIndex
        let end = kind == "m.sticker" ? ".png" : isVoice ? ".ogg" : String(body[dot...])
        let start = body[..<dot] + "-"
        let fitting = names.filter { $0.hasPrefix(start) && $0.hasSuffix(end) }
        let timed = fitting.filter { Self.isWritten($0.dropFirst(start.count).dropLast(end.count), at: sentAt) }
        let found = timed.count == 1 ? timed : fitting
        return found.count == 1 ? "\(base)\(folder)/\(found[0])" : nil
    }

    /// Whether a localized time may be this one: its minute and second must occur in sequence. This fails in time
    /// zones whose offset is not a whole number of hours; files from there are found only by unique names.
    private static func isWritten(_ text: Substring, at date: Date) -> Bool {
        let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
        let seconds = Int(date.timeIntervalSince1970.rounded(.down))
        let pair = [seconds / 60 % 60, seconds % 60]
        return zip(numbers, numbers.dropFirst()).contains { [$0, $1] == pair }
    }
}
