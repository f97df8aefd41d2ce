public import ChatCore
import Foundation

/// The texts about exports and imports.
public struct TransferText {
    private let wording: Wording
    private var translator: Translator { wording.translator }

    public init(_ wording: Wording) {
        self.wording = wording
    }

    public func title(_ state: TransferViewModel.State) -> String {
        switch state.phase {
        case .running: state.isImport ? translator("Importing Chat History") : translator("Exporting Room")
        case .asking(let earlierImports): earlierImportTitle(earlierImports)
        case .stopping: translator("Canceling…")
        case .exported: translator("Room Exported")
        case .imported: translator("Chat History Imported")
        case .failed where state.isImport:
            translator("Could Not Import “{file}”", ["file": state.name])
        case .failed: translator("Could Not Export Room")
        case .cancelled: translator("Canceled")
        }
    }

    /// The heading of the dialog that asks how to export a room.
    public func exportHeading(_ room: String) -> String { translator("Export “{room}”", ["room": room]) }

    /// What the dialog that asks how to export a room says. Exports of encrypted rooms are not encrypted either.
    public var exportExplanation: String {
        translator(
            "Messages and files are saved to a new folder that can be opened without Parlance. They are not encrypted there."
        )
    }

    public func name(of format: ExportFormat) -> String {
        switch format {
        case .html: translator("Web page (HTML)")
        case .markdown: translator("Text (Markdown)")
        case .json: translator("Data (JSON)")
        }
    }

    public func body(_ phase: TransferViewModel.Phase) -> String {
        switch phase {
        case .running(let progress): messages(progress.messages)
        case .asking(let earlierImports): question(earlierImports)
        case .stopping: ""
        case .cancelled: translator("No changes were made.")
        case .exported(let report): exported(report)
        case .imported(let report): imported(report)
        case .failed(.archive(let error)): text(for: error)
        case .failed(.chat(let error)): ToastText(wording).text(for: error)
        }
    }

    private func earlierImportTitle(_ earlierImports: [EarlierImport]) -> String {
        guard earlierImports.count == 1, let room = earlierImports.first else {
            return translator.plural(
                "{count} Room Has Already Been Imported", "{count} Rooms Have Already Been Imported",
                earlierImports.count)
        }
        return translator("“{room}” Has Already Been Imported", ["room": room.name])
    }

    private func question(_ earlierImports: [EarlierImport]) -> String {
        let count = earlierImports.reduce(0) { $0 + $1.newMessages }
        let new =
            count == 0
            ? translator("All messages in this export have already been imported.")
            : translator.plural(
                "{count} message in this export has not been imported yet.",
                "{count} messages in this export have not been imported yet.", count)
        let choice = translator(
            "Merging adds only the missing messages. A new room gets a copy of all messages.")
        return new + "\n\n" + choice
    }

    public func newRooms(_ count: Int) -> String { count == 1 ? translator("_New Room") : translator("_New Rooms") }

    private func messages(_ count: Int) -> String {
        translator.plural("{count} message", "{count} messages", count)
    }

    private func files(_ count: Int) -> String {
        translator.plural("{count} file", "{count} files", count)
    }

    private func exported(_ report: ExportReport) -> String {
        var lines = [messages(report.messages)]
        if report.files > 0 { lines.append(files(report.files)) }
        if report.missingFiles > 0 {
            lines.append(
                translator.plural(
                    "{count} file is no longer available", "{count} files are no longer available",
                    report.missingFiles))
        }
        if report.unloadedFiles > 0 {
            lines.append(
                translator.plural(
                    "{count} file could not be loaded because the server could not be reached",
                    "{count} files could not be loaded because the server could not be reached", report.unloadedFiles))
        }
        if let startDate = report.startDate {
            lines.append(
                translator(
                    "Messages before {date} are missing because the server could not be reached.",
                    ["date": wording.fullDate(startDate)]))
        }
        return (lines + ["", report.folder.path]).joined(separator: "\n")
    }

    private func imported(_ report: ImportReport) -> String {
        let rooms = translator.plural("{count} room", "{count} rooms", report.conversations.count)
        return translator.list([rooms, messages(report.messages)] + (report.files > 0 ? [files(report.files)] : []))
    }

    /// The items that an import skipped, one line each, most frequent first; `nil` if none.
    public func report(_ phase: TransferViewModel.Phase) -> String? {
        guard case .imported(let report) = phase, !report.skippedItems.isEmpty else { return nil }
        let sortedItems = report.skippedItems.sorted { ($0.value, "\($1.key)") > ($1.value, "\($0.key)") }
        let lines = sortedItems.map {
            // Translators: how often an item of an import was skipped, such as "3 × unsupported event".
            translator("{count} × {item}", ["count": String($0.value), "item": text(for: $0.key)])
        }
        return ([translator("Skipped items:")] + lines).joined(separator: "\n")
    }

    private func text(for item: ImportReport.SkippedItem) -> String {
        switch item {
        case .event(let kind): named(translator("unsupported event"), kind)
        case .unknownKind(let kind): named(translator("unsupported message type"), kind)
        case .wrongType(let name): named(translator("invalid value"), name)
        case .incomplete(let name): named(translator("incomplete message"), name)
        case .strayLine: translator("unrecognized line")
        case .reaction: translator("reaction not imported")
        case .edit: translator("edit not imported")
        case .missingFile: translator("file missing from the export")
        case .tooLong: translator("message too long")
        }
    }

    private func named(_ text: String, _ name: String) -> String {
        // The name comes from the imported file: limit it to one short line.
        let name = name.prefix(40).filter { !$0.isNewline && $0 != "\0" }
        // Translators: a skipped item of an import, and what the file calls it, such as "unsupported event (create_group)".
        return name.isEmpty ? text : translator("{item} ({name})", ["item": text, "name": name])
    }

    public func text(for error: ArchiveError) -> String {
        switch error {
        case .unknownFormat:
            translator(
                "Unsupported file. Parlance can import exports from Telegram (JSON), WhatsApp (text), Slack, and Element (JSON)."
            )
        case .unreadable(let path): translator("Could not read {path}", ["path": path])
        case .truncated: translator("The file is incomplete. Download or copy it again.")
        case .malformed(_, let reason):
            translator("The file is damaged: {reason}", ["reason": String(reason.prefix(200))])
        case .tooDeep, .tooLong: translator("The file is damaged: its content exceeds the supported limits.")
        case .empty: translator("The file contains no messages.")
        case .unwritable(let path): translator("Could not write to {path}", ["path": path])
        case .diskFull: translator("Not enough disk space")
        }
    }
}
