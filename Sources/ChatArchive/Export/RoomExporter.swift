import ChatCore
import Foundation
import Glibc

/// Exports a room page by page into a temporary folder, which is renamed when it is complete.
struct RoomExporter {
    static let pageSize = 500

    let room: RoomID
    let name: String
    let format: ExportFormat
    let service: any RoomArchive.Source
    let zone: TimeZone
    let now: Date
    let retry: RequestRetry
    let progress: @Sendable (TransferProgress) -> Void

    /// - Throws: ``ArchiveError``, ``ChatError`` or `CancellationError`, after removing the folder.
    func run(into folder: URL) async throws -> ExportReport {
        ExportFolder.removeLeftovers(in: folder, now: now)
        let draft = try ExportFolder(in: folder)
        do {
            var report = try await write(in: draft.url)
            try Task.checkCancellation()
            report.folder = try Self.assign(name: Self.fileName(name), to: draft.url, in: folder)
            return report
        } catch {
            // If the folder cannot be removed, it stays hidden, so nobody takes it for an export. Report the
            // original error.
            try? FileManager.default.removeItem(at: draft.url)
            throw error
        }
    }

    private func write(in folder: URL) async throws -> ExportReport {
        let whole = try await service.fetchHistory(of: room) { [progress] fetched in
            progress(TransferProgress(messages: fetched, fraction: nil))
        }
        let members = try await members()
        let names = Dictionary(members.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let file = try ExportFile(folder.appending(path: "messages.\(format.fileExtension)"))
        var writer = format.writer(zone: zone)
        var media = ExportedMedia(folder: folder, service: service, retry: retry, isDoubtful: whole != nil)
        var report = ExportReport(folder: folder, messages: 0, files: 0, missingFiles: 0)
        // Unless it is known that the room is not encrypted, the file says that it is not.
        let isEncrypted = (try? await service.isEncrypted(room)) ?? true
        try file.write(
            writer.header(
                of: ExportedRoom(
                    id: room, name: name, members: members, exportedAt: now, zone: zone, isEncrypted: isEncrypted)))
        var page = try await firstPage(from: whole)
        var ends: (first: Int64, last: Int64)?
        while let last = page.messages.last {
            if ends == nil, let first = page.messages.first {
                // Only the progress depends on it, and messages that are missing at the end would be requested.
                let newest = (try? await service.messages(in: room, before: .max, limit: 1))?.messages.last
                ends = (first.position, newest?.position ?? last.position)
                if whole != nil { report.startDate = first.sentAt }
            }
            for message in page.messages {
                let files = try await media.copy(message.attachments)
                let revisions = try await revisions(of: message)
                try file.write(writer.text(of: Self.exported(message, files, revisions, names)))
            }
            report.messages += page.messages.count
            progress(
                TransferProgress(messages: report.messages, fraction: Self.fraction(of: last.position, between: ends)))
            if !page.hasNewer { break }
            page = try await self.page(after: last.position)
        }
        try file.write(writer.ending())
        try file.finish()
        report.files = media.copied
        report.missingFiles = media.missing
        report.unloadedFiles = media.unloaded
        return report
    }

    private func page(after position: Int64) async throws -> TimelinePage {
        try Task.checkCancellation()
        return try await retry.run {
            try await service.messages(in: room, after: position, limit: Self.pageSize)
        }
    }

    /// Returns the oldest messages from a position on.
    /// - Parameter start: What lies before it cannot be fetched; `nil` if all messages are there.
    private func firstPage(from start: Int64?) async throws -> TimelinePage {
        guard let start else { return try await self.page(after: .min) }
        // Whoever asks for what follows an earlier position asks for what is missing in between, which fails. The first
        // message itself is found from behind, and what follows it after that. If there is no message there any more,
        // this fails as well, and the next page is the first.
        let found: TimelinePage?
        do {
            found = try await service.messages(in: room, before: start + 1, limit: 1)
        } catch is ChatError {
            found = nil
        }
        let messages = (found?.messages ?? []).filter { $0.position >= start }
        guard !messages.isEmpty else { return try await self.page(after: start) }
        // Unsent messages are only on the page at the end.
        return TimelinePage(messages: messages, hasOlder: true, hasNewer: true)
    }

    private static func fraction(of position: Int64, between ends: (first: Int64, last: Int64)?) -> Double? {
        guard let ends, ends.last > ends.first else { return 1 }
        return min(1, Double(position - ends.first) / Double(ends.last - ends.first))
    }

    /// - Throws: ``ChatError/notFound`` if there is no such room.
    private func members() async throws -> [Member] {
        for await update in service.timeline(of: room, limit: 1) {
            if case .opened(_, let members, _) = update { return members }
            if case .closed = update { break }
        }
        // The stream of a canceled task ends without an error.
        try Task.checkCancellation()
        throw ChatError.notFound
    }

    private func revisions(of message: Message) async throws -> [MessageRevision] {
        guard message.editedAt != nil, !message.isDeleted else { return [] }
        do {
            return try await service.revisions(of: message.id, in: room)
        } catch ChatError.notPermitted, ChatError.notFound {
            // The backend stores no revisions, or the message has just been deleted.
            return []
        }
    }

    private static func exported(
        _ message: Message, _ files: [ExportedMessage.File], _ revisions: [MessageRevision],
        _ members: [MemberID: Member]
    ) -> ExportedMessage {
        func name(_ id: MemberID) -> String { members[id]?.displayName ?? id.rawValue }
        return ExportedMessage(
            message: message, senderName: name(message.sender), isOwn: members[message.sender]?.kind == .own,
            reactions: message.reactions.map { ($0.text, $0.senders.map(name)) }, files: files,
            revisions: revisions,
            happened: message.event.map { event in
                event.sentence(
                    by: name(message.sender),
                    of: event.subject.map { members[$0]?.displayName ?? event.name ?? $0.rawValue })
            })
    }

    // MARK: Names

    /// Returns a name that is valid on all file systems and not hidden.
    static func fileName(_ name: String) -> String {
        let sanitized = name.unicodeScalars.map { scalar -> Character in
            let isControl = [.control, .format, .lineSeparator, .paragraphSeparator].contains(
                scalar.properties.generalCategory)
            return isControl || "/\\:*?\"<>|".unicodeScalars.contains(scalar) ? "_" : Character(scalar)
        }
        let trimmed = String(sanitized).drop { $0 == "." || $0 == " " || $0 == "_" }
        var short = shortened(trimmed)
        while short.last == " " || short.last == "." { short.removeLast() }
        return short.isEmpty ? "Room" : short
    }

    /// Returns the first 120 bytes of a name, or fewer and its extension, by which programs recognize a file.
    private static func shortened(_ name: Substring) -> String {
        guard name.utf8.count > 120 else { return String(name) }
        let dot = name.lastIndex(of: ".")
        let end = dot.map { name[$0...] }.flatMap { $0.utf8.count <= 20 ? $0 : nil } ?? ""
        var stem = name.dropLast(end.count)
        while stem.utf8.count + end.utf8.count > 120 { stem.removeLast() }
        return String(stem) + end
    }

    /// Renames the folder without replacing an existing one.
    private static func assign(name: String, to draft: URL, in folder: URL) throws -> URL {
        // After a power loss, the folder must not have its name and lack files.
        ExportFile.syncFolder(draft.appending(path: ExportedMedia.folderName).path)
        ExportFile.syncFolder(draft.path)
        for number in 1...1000 {
            let url = folder.appending(
                path: number == 1 ? name : "\(name) (\(number))", directoryHint: .isDirectory)
            guard access(url.path, F_OK) != 0 else { continue }
            guard rename(draft.path, url.path) == 0 else {
                // Created concurrently: `rename` never replaces a folder that is not empty.
                if errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR { continue }
                throw ExportFile.failure(url.path)
            }
            ExportFile.syncFolder(folder.path)
            return url
        }
        throw ArchiveError.unwritable(path: folder.path)
    }
}
