import ChatCore
import Composer
import Foundation
import MessageMarkup

/// Performs an import: parses the export and stores its messages in batches.
final class ConversationImporter {
    /// The number of messages per batch.
    static let batch = 2000
    /// The size in bytes at which a batch is stored with fewer messages.
    static let batchBytes = 8 << 20

    private let service: any ImportService & MediaService
    private let plan: ImportPlan
    private let folder: FolderFiles?
    private let resolveRepeats: @Sendable ([EarlierImport]) async throws -> RepeatedImport
    private let progress: @Sendable (TransferProgress) -> Void
    private let ownMember: Member

    private var rooms: [(room: RoomID, name: String, messages: Int)] = []
    private var report = ImportReport()
    private var importedMembers = ImportedMembers()
    private var waiting: [ParsedMessage] = []
    /// Changes to pending or stored messages.
    private var changes: [ParsedChange] = []
    private var waitingBytes = 0
    private var done = 0
    private var bytes = 0

    init(
        _ plan: ImportPlan, service: any ImportService & MediaService,
        resolveRepeats: @escaping @Sendable ([EarlierImport]) async throws -> RepeatedImport,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async {
        self.plan = plan
        self.service = service
        self.resolveRepeats = resolveRepeats
        self.progress = progress
        folder = plan.files as? FolderFiles
        ownMember = await service.importingMember
    }

    /// - Throws: ``ArchiveError``, ``ChatError`` or `CancellationError`, after discarding the imported rooms.
    func run() async throws -> ImportReport {
        do {
            for input in plan.inputs { try await read(input) }
            try await flush()
            rooms.removeAll { $0.messages == 0 }
            guard !rooms.isEmpty else { throw ArchiveError.empty }
            try await finish()
        } catch {
            await service.discardImport(startedRooms)
            throw error
        }
        await service.discardImport(startedRooms.filter { room in !rooms.contains { $0.room == room } } + merged)
        report.conversations = rooms.map {
            ImportReport.Conversation(room: $0.room, name: $0.name, messages: $0.messages)
        }
        return report
    }

    private var startedRooms: [RoomID] = []
    /// Staged rooms whose messages were merged into earlier imports.
    private var merged: [RoomID] = []

    /// Publishes the imported rooms, or merges them into earlier imports if the user so chooses.
    private func finish() async throws {
        let earlier = try await service.earlierImports(of: rooms.map(\.room))
        try Task.checkCancellation()
        let isMerged = earlier.isEmpty ? false : try await resolveRepeats(earlier) == .merge
        try Task.checkCancellation()
        let targets =
            isMerged ? Dictionary(earlier.map { ($0.staged, $0) }, uniquingKeysWith: { first, _ in first }) : [:]
        let added = try await service.finishImport(
            rooms.map { FinishedImport(staged: $0.room, name: $0.name, mergedInto: targets[$0.room]?.room) })
        merged = Array(targets.keys)
        rooms = rooms.map { room in
            targets[room.room].map { ($0.room, $0.name, added[room.room] ?? 0) } ?? room
        }
    }

    private func read(_ input: ImportPlan.Input) async throws {
        if let name = input.name { try await startRoom(name, input.source) }
        let isNamed = input.name != nil
        try await plan.files.read(input.paths) { _, reader in
            var reader = reader
            let parser = input.makeParser()
            while case let data = try reader.read(1 << 16), !data.isEmpty {
                try Task.checkCancellation()
                try parser.feed(data)
                self.bytes += data.count
                try await self.handle(parser.drainEvents(), isNamed: isNamed)
            }
            try parser.finish()
            try await self.handle(parser.drainEvents(), isNamed: isNamed)
        }
    }

    private func handle(_ events: [ImportEvent], isNamed: Bool) async throws {
        for event in events {
            switch event {
            case .conversation(let name, let source): if !isNamed { try await startRoom(name, source) }
            case .renamed(let name):
                if let last = rooms.indices.last { rooms[last].name = Self.roomName(name) }
            case .ownerIdentified: importedMembers.isOwnerIdentified = true
            case .skipped(let skippedItem): report.skippedItems[skippedItem, default: 0] += 1
            case .message(let message):
                guard message.text.utf8.count <= ChatLimits.messageBytes else {
                    report.skippedItems[.tooLong, default: 0] += 1
                    continue
                }
                waiting.append(message)
                waitingBytes += message.size
            case .change(let change):
                guard change.text.utf8.count <= ChatLimits.messageBytes else {
                    omit(change.kind)
                    continue
                }
                changes.append(change)
                waitingBytes += change.size
            }
            if waiting.count + changes.count >= Self.batch || waitingBytes >= Self.batchBytes { try await flush() }
        }
    }

    private func omit(_ change: ImportedChange.Kind) {
        switch change {
        case .reaction: report.skippedItems[.reaction, default: 0] += 1
        case .edit: report.skippedItems[.edit, default: 0] += 1
        }
    }

    private func startRoom(_ name: String, _ source: String?) async throws {
        try await flush()
        let room = try await service.startImport(of: source)
        startedRooms.append(room)
        rooms.append((room, Self.roomName(name), 0))
        importedMembers = ImportedMembers()
    }

    private static func roomName(_ name: String) -> String {
        ChatLimits.roomName(from: String(name.prefix(ChatLimits.roomNameLength))) ?? "Imported"
    }

    /// Stores the pending messages and changes.
    private func flush() async throws {
        guard !waiting.isEmpty || !changes.isEmpty, let last = rooms.indices.last else { return }
        let media = try await importFiles()
        let messages = zip(waiting, media).compactMap { message(from: $0, media: $1) }
        let later = waiting.flatMap { edits(of: $0) }
        waiting = []
        waitingBytes = 0
        let added = try await service.addImported(messages, by: importedMembers.drainNew(), to: rooms[last].room)
        rooms[last].messages += added
        done += added
        if !later.isEmpty {
            let missed = try await service.applyImported(later, by: importedMembers.drainNew(), to: rooms[last].room)
            for change in missed { omit(change.kind) }
        }
        try await flushChanges(to: rooms[last].room)
        progress(
            TransferProgress(messages: done, fraction: plan.size > 0 ? min(1, Double(bytes) / Double(plan.size)) : nil))
    }

    private func flushChanges(to room: RoomID) async throws {
        guard !changes.isEmpty else { return }
        let imported = changes.map { change in
            ImportedChange(
                message: MessageID("import-\(change.target)"),
                member: importedMembers.member(
                    change.senderID, named: change.senderName, isOwn: change.isOwn, ownMember: ownMember),
                at: change.at, kind: change.kind)
        }
        changes = []
        for change in try await service.applyImported(imported, by: importedMembers.drainNew(), to: room) {
            omit(change.kind)
        }
    }

    /// - Parameter media: The stored files, `nil` for missing ones. Those beyond a message's limit are left out, and later
    ///   deleted as any file that nothing refers to.
    /// - Returns: `nil` for a message that cannot be stored, which is then counted as skipped.
    private func message(from parsed: ParsedMessage, media: [MediaReference?]) -> ImportedMessage? {
        var message = ImportedMessage(
            id: MessageID("import-\(parsed.id)"),
            sender: importedMembers.member(
                parsed.senderID, named: parsed.senderName, isOwn: parsed.isOwn, ownMember: ownMember),
            text: text(of: parsed),
            sentAt: parsed.sentAt, kind: parsed.kind, replyTo: parsed.replyTo.map { MessageID("import-\($0)") },
            editedAt: parsed.earlier.isEmpty ? parsed.editedAt : nil)
        for (file, media) in zip(parsed.files, media) {
            if let media, message.attachments.count < ChatLimits.attachments {
                message.attachments.append(media)
                if message.kind == .text { message.kind = media.messageKind }
            } else {
                report.skippedItems[.missingFile, default: 0] += 1
                message.text.addLine(Self.storable(file.media.altText ?? file.media.name))
            }
        }
        for name in parsed.missing { message.text.addLine(Self.storable(name)) }
        if message.attachments.isEmpty, [.image, .file, .audio, .video].contains(message.kind) { message.kind = .text }
        do {
            try ChatLimits.checkMessage(message.text.text, attachments: message.attachments.count)
        } catch {
            let item: ImportReport.SkippedItem = error == .messageTooLong ? .tooLong : .incomplete("text")
            report.skippedItems[item, default: 0] += 1
            return nil
        }
        report.files += message.attachments.count
        return message
    }

    /// Returns the original text; later versions become edits.
    private func text(of parsed: ParsedMessage) -> Wording {
        guard let first = parsed.earlier.first else {
            return text(parsed.text, parsed.html, parsed.written, of: parsed)
        }
        return text(first.text, first.html, first.written, of: parsed)
    }

    private func text(
        _ text: String, _ html: String?, _ written: WrittenText?, of parsed: ParsedMessage
    ) -> Wording {
        let html = html.map(Self.storable)
        var wording =
            parsed.isPlain && written == nil
            ? ParsedMessage.plain(Self.storable(text), html: html) : Wording(Self.storable(text), html: html)
        wording.written = written.map { here($0, parsed) }
        return wording
    }

    /// Replaces the export's member IDs in mentions with those of this import.
    private func here(_ written: WrittenText, _ parsed: ParsedMessage) -> WrittenText {
        let marks = written.marks.map { mark -> WrittenText.Mark in
            guard case .member(let id)? = mark.mention, let user = parsed.mentioned[id] else { return mark }
            let member = importedMembers.member(id, named: user.name, isOwn: user.isOwn, ownMember: ownMember)
            return WrittenText.Mark(.mention(.member(member.rawValue)), over: mark.range)
        }
        return WrittenText(written.source, syntax: written.syntax, marks: marks) ?? written
    }

    /// Returns the edits of a message, oldest first.
    private func edits(of parsed: ParsedMessage) -> [ImportedChange] {
        guard !parsed.earlier.isEmpty else { return [] }
        let member = importedMembers.member(
            parsed.senderID, named: parsed.senderName, isOwn: parsed.isOwn, ownMember: ownMember)
        let last = ParsedMessage.Version(
            text: parsed.text, html: parsed.html, written: parsed.written,
            at: parsed.editedAt ?? parsed.earlier[parsed.earlier.count - 1].at)
        return (parsed.earlier.dropFirst() + [last]).map { version in
            ImportedChange(
                message: MessageID("import-\(parsed.id)"), member: member, at: version.at,
                kind: .edit(text(version.text, version.html, version.written, of: parsed)))
        }
    }

    /// Replaces NUL characters, at which SQLite would truncate a text.
    private static func storable(_ text: String) -> String {
        text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
    }

    /// Stores the files of pending messages; `nil` stands for missing ones. Reads them in the order of the export,
    /// because an archive can only be read forward.
    private func importFiles() async throws -> [[MediaReference?]] {
        var media = waiting.map { [MediaReference?](repeating: nil, count: $0.files.count) }
        let requests = waiting.indices.flatMap { message in
            waiting[message].files.indices.compactMap { file in
                plan.files.positions[waiting[message].files[file].path].map { (message, file, position: $0) }
            }
        }
        var last: (position: Int, content: MediaContent?)?
        for (message, file, position) in requests.sorted(by: { $0.position < $1.position }) {
            try Task.checkCancellation()
            if last?.position != position {
                last = nil
                last = (position, try await content(of: waiting[message].files[file].path))
            }
            if let content = last?.content {
                media[message][file] = try await store(waiting[message].files[file], content)
            }
        }
        return media
    }

    private func content(of path: String) async throws -> MediaContent? {
        if let folder { return folder.url(of: path).map { .file($0) } }
        return try await plan.files.content(of: path, limit: ChatLimits.attachmentBytes).map { .data($0) }
    }

    /// - Returns: `nil` if the file cannot be stored.
    private func store(_ file: ParsedMessage.File, _ content: MediaContent) async throws -> MediaReference? {
        do {
            var reference = try await service.storeMedia(content, named: file.media.name, type: file.media.type) { _ in
            }
            let stored = reference.media
            reference.media = file.media
            // The export may be wrong about these properties.
            (reference.name, reference.type, reference.bytes) = (stored.name, stored.type, stored.bytes)
            reference.altText = file.media.altText.map(Self.storable)
            return reference
        } catch ChatError.unreadableFile, ChatError.fileTooLarge {
            return nil
        }
    }
}

extension Wording {
    /// Appends a line to all forms of the text.
    fileprivate mutating func addLine(_ line: String) {
        let isEmpty = text.isEmpty
        text += (isEmpty ? "" : "\n") + line
        if let html { self.html = (isEmpty ? "" : html + "<br>") + MessageMarkup.html(of: MessageBody(plain: line)) }
        if let written {
            let line = written.syntax == .plain ? line : MessageMarkup.written(plain: line).text.source
            self.written = WrittenText(
                written.source + (isEmpty ? "" : "\n") + line, syntax: written.syntax, marks: written.marks)
        }
    }
}

/// Maps the senders of an export to member IDs.
struct ImportedMembers {
    /// Whether the export says who the user is.
    var isOwnerIdentified = false
    private var idsByKey: [String: MemberID] = [:]
    private var new: [Member] = []

    /// - Parameter id: Empty if the export has only names.
    mutating func member(_ id: String, named name: String, isOwn: Bool, ownMember: Member) -> MemberID {
        if isOwn { return ownMember.id }
        let key = id.isEmpty ? name : id
        if let existing = idsByKey[key] { return existing }
        let name = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        // Most exports do not identify who exported them: match the user by name.
        let isOwn =
            !isOwnerIdentified && !name.isEmpty && name.lowercased() == ownMember.displayName.lowercased()
        let id = isOwn ? ownMember.id : MemberID("import-\(key)")
        idsByKey[key] = id
        if !isOwn {
            new.append(Member(id: id, displayName: name.isEmpty ? "?" : String(name.prefix(200)), kind: .person))
        }
        return id
    }

    mutating func drainNew() -> [Member] {
        defer { new = [] }
        return new
    }
}
