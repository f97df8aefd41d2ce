import ChatCore
import ChatViewModels
import Foundation
import GtkKit

/// Localized texts about exports and imports.
enum TransferText {
    static func title(_ state: TransferViewModel.State) -> String {
        switch state.phase {
        case .running: state.isImport ? translated("Importing Conversations") : translated("Exporting the Room")
        case .asking(let earlierImports): earlierImportTitle(earlierImports)
        case .stopping: translated("Stopping…")
        case .exported: translated("The Room Was Exported")
        case .imported: translated("Conversations Were Imported")
        case .failed where state.isImport:
            translated("Nothing Was Imported from “{file}”").replacing("{file}", with: state.name)
        case .failed: translated("The Room Was Not Exported")
        case .cancelled: translated("Stopped: Nothing Was Changed")
        }
    }

    static func body(_ phase: TransferViewModel.Phase) -> String {
        switch phase {
        case .running(let progress): messages(progress.messages)
        case .asking(let earlierImports): question(earlierImports)
        case .stopping, .cancelled: ""
        case .exported(let report): exported(report)
        case .imported(let report): imported(report)
        case .failed(.archive(let error)): text(for: error)
        case .failed(.chat(let error)): ToastText.text(for: error)
        }
    }

    private static func earlierImportTitle(_ earlierImports: [EarlierImport]) -> String {
        guard earlierImports.count == 1, let room = earlierImports.first else {
            return translated(
                "{count} Conversation Was Imported Before", "{count} Conversations Were Imported Before",
                count: earlierImports.count
            ).replacing("{count}", with: String(earlierImports.count))
        }
        return translated("“{room}” Was Imported Before").replacing("{room}", with: room.name)
    }

    private static func question(_ earlierImports: [EarlierImport]) -> String {
        let count = earlierImports.reduce(0) { $0 + $1.newMessages }
        let new =
            count == 0
            ? translated("The room has all messages of this export already.")
            : translated(
                "{count} message of this export is not in the room yet.",
                "{count} messages of this export are not in the room yet.", count: count
            ).replacing("{count}", with: String(count))
        let choice = translated(
            "Merging adds what is missing and changes nothing else. A new room has all of it once more.")
        return new + "\n\n" + choice
    }

    static func newRooms(_ count: Int) -> String { count == 1 ? translated("_New Room") : translated("_New Rooms") }

    private static func messages(_ count: Int) -> String {
        translated("{count} message", "{count} messages", count: count).replacing("{count}", with: String(count))
    }

    private static func files(_ count: Int) -> String {
        translated("{count} file", "{count} files", count: count).replacing("{count}", with: String(count))
    }

    private static func exported(_ report: ExportReport) -> String {
        var lines = [messages(report.messages)]
        if report.files > 0 { lines.append(files(report.files)) }
        if report.missingFiles > 0 {
            lines.append(
                translated("Files that are not there any more: {files}").replacing(
                    "{files}", with: files(report.missingFiles)))
        }
        if let startDate = report.startDate {
            lines.append(
                translated("The server did not answer: what was said before {date} is missing.").replacing(
                    "{date}", with: DateText.full(startDate)))
        }
        return (lines + ["", report.folder.path]).joined(separator: "\n")
    }

    private static func imported(_ report: ImportReport) -> String {
        let rooms = translated("{count} conversation", "{count} conversations", count: report.conversations.count)
            .replacing("{count}", with: String(report.conversations.count))
        return ([rooms, messages(report.messages)] + (report.files > 0 ? [files(report.files)] : []))
            .joined(separator: ", ")
    }

    /// Returns what was skipped, one line each, most frequent first.
    static func skippedItems(_ report: ImportReport) -> [String] {
        let sortedItems = report.skippedItems.sorted { ($0.value, "\($1.key)") > ($1.value, "\($0.key)") }
        return sortedItems.map { "\($0.value) × \(text(for: $0.key))" }
    }

    private static func text(for item: ImportReport.SkippedItem) -> String {
        switch item {
        case .event(let kind): named(translated("event that is no message"), kind)
        case .unknownKind(let kind): named(translated("message of an unknown kind"), kind)
        case .wrongType(let name): named(translated("value of the wrong type"), name)
        case .incomplete(let name): named(translated("message without all that makes one"), name)
        case .strayLine: translated("line that belongs to no message")
        case .reaction: translated("reaction that could not be brought in")
        case .edit: translated("edit that could not be brought in")
        case .missingFile: translated("file that is not in the export")
        case .tooLong: translated("message that is too long")
        }
    }

    private static func named(_ text: String, _ name: String) -> String {
        // The name comes from the imported file: limit it to one short line.
        let name = name.prefix(40).filter { !$0.isNewline && $0 != "\0" }
        return name.isEmpty ? text : "\(text) (\(name))"
    }

    static func text(for error: ArchiveError) -> String {
        switch error {
        case .unknownFormat:
            translated(
                "This is no export that is known: of Telegram as JSON, of WhatsApp as text, of Slack, or of Element as JSON."
            )
        case .unreadable(let path): translated("It cannot be read: {path}").replacing("{path}", with: path)
        case .truncated: translated("The file ends in the middle: it was not copied or downloaded to its end.")
        case .malformed(_, let reason):
            translated("The file is damaged: {reason}").replacing("{reason}", with: String(reason.prefix(200)))
        case .tooDeep, .tooLong: translated("The file is damaged: there is something in it beyond all bounds.")
        case .empty: translated("There is no message in it.")
        case .unwritable(let path): translated("It cannot be written to: {path}").replacing("{path}", with: path)
        case .diskFull: translated("The disk is full: nothing was stored")
        }
    }
}
