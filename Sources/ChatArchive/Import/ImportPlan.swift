import ChatCore
import Foundation
import JSONReading

/// The files of an export to import, in order, and their parsers.
struct ImportPlan {
    /// The files of one conversation, or a file that contains several.
    struct Input {
        /// The conversation's name, or `nil` if the files contain it.
        var name: String?
        /// See ``ImportEvent/conversation(name:source:)``.
        var source: String?
        var paths: [String]
        var makeParser: () -> any ConversationParser
    }

    var files: any SourceFiles
    var inputs: [Input]
    /// The total size of the inputs in bytes.
    var size: Int

    /// The maximum size of lists of users and channels, which are read as a whole.
    static let maxDirectoryBytes = 64 << 20
    /// The number of leading bytes from which a format is detected.
    static let peek = 1 << 16

    /// Detects the format of an export.
    /// - Throws: ``ArchiveError/unknownFormat`` or another ``ArchiveError``.
    ///
    /// - Parameter emoji: Returns the emoji for a short code.
    init(of url: URL, zone: TimeZone, emoji: @escaping @Sendable (String) -> String?) async throws {
        let files: any SourceFiles
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue {
            var reader = try FileReader(url)
            files = ZipFiles.isZip(try reader.read(4)) ? try ZipFiles(url) : try FolderFiles(url)
        } else {
            files = try FolderFiles(url)
        }
        self.files = files
        let main = Self.main(of: files)
        if let inputs = try await Self.slack(files, besides: main, emoji) {
            self.inputs = inputs
        } else if let entry = main ?? Self.onlyFile(of: files) {
            let name = url.deletingPathExtension().lastPathComponent
            // WhatsApp's text file always has the same name; if it was extracted, its folder is named after the chat.
            let folder = name.hasPrefix("_chat") ? url.deletingLastPathComponent().lastPathComponent : nil
            inputs = [try await Self.single(entry, files, zone, fileName: name, folderName: folder)]
        } else {
            throw ArchiveError.unknownFormat
        }
        let sizes = Dictionary(files.entries.map { ($0.path, $0.size) }, uniquingKeysWith: { first, _ in first })
        // An archive may claim any size of what it contains.
        size = inputs.flatMap(\.paths).reduce(0) { sum, path in
            let (next, isTooLarge) = sum.addingReportingOverflow(sizes[path] ?? 0)
            return isTooLarge ? .max : next
        }
    }

    /// Returns the main file of an export by its name.
    ///
    /// Attachments may have such names too, so it is the file with the shortest path. The export itself may be inside of
    /// another folder.
    private static func main(of files: any SourceFiles) -> SourceEntry? {
        let candidates = files.entries.compactMap { entry in
            rank(of: entry.name).map { (entry: entry, depth: entry.depth, rank: $0) }
        }
        return candidates.min { ($0.depth, $0.rank) < ($1.depth, $1.rank) }?.entry
    }

    /// Returns the rank of a main file among those in the same folder, or `nil` for any other name.
    ///
    /// WhatsApp's text comes first, because only WhatsApp puts attachments beside the main file. Telegram may write both
    /// JSON and HTML, of which only JSON can be imported.
    private static func rank(of name: String) -> Int? {
        if WhatsAppName.isChat(file: name) { return 0 }
        let names = ["result.json", "export.json", JSONExport.fileName, HTMLExport.fileName]
        return names.firstIndex(of: name).map { $0 + 1 }
    }

    /// Returns the only file or the only text, for exports whose main file has an unknown name.
    private static func onlyFile(of files: any SourceFiles) -> SourceEntry? {
        if files.entries.count == 1 { return files.entries.first }
        let texts = files.entries.filter { $0.name.hasSuffix(".txt") }
        return texts.count == 1 ? texts.first : nil
    }

    private static func single(
        _ entry: SourceEntry, _ files: any SourceFiles, _ zone: TimeZone, fileName: String, folderName: String?
    ) async throws -> Input {
        var start = Data()
        try await files.read([entry.path]) { _, reader in
            var reader = reader
            while start.count < peek, case let chunk = try reader.read(peek), !chunk.isEmpty { start += chunk }
        }
        let text = String(decoding: start, as: UTF8.self)
        let isObject = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }.first == "{"
        if isObject {
            let base = String(entry.path.dropLast(entry.name.count))
            if text.contains("\"format\":\"\(JSONExport.format)\"") {
                let paths = Set(files.entries.map(\.path))
                return Input(name: nil, paths: [entry.path]) { ParlanceParser(paths: paths, base: base) }
            }
            let isElement = ["\"room_name\"", "\"export_date\"", "\"exported_by\""].contains { text.contains($0) }
            guard
                isElement
                    || ["\"messages\"", "\"chats\"", "\"type\"", "\"personal_information\""].contains(where: {
                        text.contains($0)
                    })
            else {
                throw ArchiveError.unknownFormat
            }
            guard isElement else {
                return Input(name: nil, paths: [entry.path]) { TelegramParser(zone: zone, base: base) }
            }
            let media = ElementFiles(files.entries.lazy.map(\.path), base: base)
            return Input(name: nil, paths: [entry.path]) { ElementParser(files: media) }
        }
        if text.contains("<!--" + HTMLExport.record) {
            let base = String(entry.path.dropLast(entry.name.count))
            let paths = Set(files.entries.map(\.path))
            return Input(name: nil, paths: [entry.path]) { PageParser(paths: paths, base: base) }
        }
        guard WhatsAppParser.dates(in: start).lines > 0 else {
            throw start.isEmpty ? ArchiveError.empty : ArchiveError.unknownFormat
        }
        return try await whatsApp(entry, files, zone, fileName, folderName)
    }

    private static func whatsApp(
        _ entry: SourceEntry, _ files: any SourceFiles, _ zone: TimeZone, _ fileName: String, _ folderName: String?
    ) async throws -> Input {
        var dates = WhatsAppDates()
        try await files.read([entry.path]) { _, reader in
            var (reader, lines) = (reader, LineSplitter())
            while case let chunk = try reader.read(1 << 16), !chunk.isEmpty {
                try Task.checkCancellation()
                try lines.feed(chunk) { line in if let line = WhatsAppLine(line) { dates.note(line) } }
            }
        }
        guard let order = dates.order else {
            throw ArchiveError.malformed(line: 0, reason: "dates in different orders")
        }
        let folder = String(entry.path.dropLast(entry.name.count))
        let paths = Set(files.entries.map(\.path))
        let chatFileName = entry.name.hasPrefix("_chat") ? fileName : String(entry.name.dropLast(4))
        let name = WhatsAppName.chat(named: chatFileName) ?? folderName.flatMap(WhatsAppName.chat(inFolder:)) ?? ""
        return Input(name: nil, paths: [entry.path]) {
            WhatsAppParser(name: name, order: order, files: paths, folder: folder, zone: zone)
        }
    }

    // MARK: Slack

    /// Returns the inputs of a Slack export, which has lists of users and channels and a folder of days for each
    /// conversation; `nil` for other formats.
    ///
    /// - Parameter main: The main file of another format. If its path is shorter, the lists are attachments.
    private static func slack(
        _ files: any SourceFiles, besides main: SourceEntry?, _ emoji: @escaping @Sendable (String) -> String?
    ) async throws -> [Input]? {
        let lists = ["users.json", "channels.json", "groups.json", "dms.json", "mpims.json"]
        // Attachments may have these names too.
        let candidates = files.entries.filter { ["users.json", "channels.json"].contains($0.name) }
        guard let list = candidates.min(by: { $0.depth < $1.depth }), list.depth <= main?.depth ?? .max else {
            return nil
        }
        let base = String(list.path.dropLast(list.name.count))
        var days: [String: [String]] = [:]
        var order: [String] = []
        for entry in files.entries where entry.path.hasPrefix(base) && entry.name.hasSuffix(".json") {
            let components = entry.path.dropFirst(base.count).split(separator: "/")
            guard components.count == 2 else { continue }
            let folder = String(components[0])
            if days[folder] == nil { order.append(folder) }
            days[folder, default: []].append(entry.path)
        }
        guard !order.isEmpty else { return nil }
        var directory = SlackParser.Directory(emoji: emoji)
        var names: [String: String] = [:]
        var sources: [String: String] = [:]
        for list in lists {
            guard let data = try await files.content(of: base + list, limit: maxDirectoryBytes) else { continue }
            let values = try readingExport { () throws(JSONError) in try JSONValue(parsing: data) }
            for value in values.array ?? [] {
                guard let id = value["id"]?.string else { continue }
                if list == "users.json" {
                    directory.userNames[id] = userName(value) ?? id
                } else {
                    let name = value["name"]?.string
                    directory.channels[id] = name
                    // Group direct messages are in folders named by ID.
                    names[name ?? id] = name ?? memberNames(in: value, directory)
                    sources[name ?? id] = "slack:\(id)"
                }
            }
        }
        let found = directory
        let media = SlackFiles(files.entries.lazy.map(\.path), base: base)
        return order.map { folder in
            Input(name: names[folder] ?? folder, source: sources[folder], paths: (days[folder] ?? []).sorted()) {
                SlackParser(directory: found, files: media, folder: folder)
            }
        }
    }

    private static func userName(_ value: JSONValue) -> String? {
        [value["profile"]?["display_name"], value["profile"]?["real_name"], value["real_name"], value["name"]]
            .compactMap { $0?.string }.first { !$0.isEmpty }
    }

    private static func memberNames(in value: JSONValue, _ directory: SlackParser.Directory) -> String {
        let members = (value["members"]?.array ?? []).compactMap(\.string).map { directory.userNames[$0] ?? $0 }
        return members.joined(separator: ", ")
    }
}
