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
        case .running: state.isImport ? translator("Importing Conversations") : translator("Exporting the Room")
        case .asking(let earlierImports): earlierImportTitle(earlierImports)
        case .stopping: translator("Stopping…")
        case .exported: translator("The Room Was Exported")
        case .imported: translator("Conversations Were Imported")
        case .failed where state.isImport:
            translator("Nothing Was Imported from “{file}”").replacing("{file}", with: state.name)
        case .failed: translator("The Room Was Not Exported")
        case .cancelled: translator("Stopped: Nothing Was Changed")
        }
    }

    public func body(_ phase: TransferViewModel.Phase) -> String {
        switch phase {
        case .running(let progress): messages(progress.messages)
        case .asking(let earlierImports): question(earlierImports)
        case .stopping, .cancelled: ""
        case .exported(let report): exported(report)
        case .imported(let report): imported(report)
        case .failed(.archive(let error)): text(for: error)
        case .failed(.chat(let error)): ToastText(wording).text(for: error)
        }
    }

    private func earlierImportTitle(_ earlierImports: [EarlierImport]) -> String {
        guard earlierImports.count == 1, let room = earlierImports.first else {
            return translator.plural(
                "{count} Conversation Was Imported Before", "{count} Conversations Were Imported Before",
                earlierImports.count)
        }
        return translator("“{room}” Was Imported Before").replacing("{room}", with: room.name)
    }

    private func question(_ earlierImports: [EarlierImport]) -> String {
        let count = earlierImports.reduce(0) { $0 + $1.newMessages }
        let new =
            count == 0
            ? translator("The room has all messages of this export already.")
            : translator.plural(
                "{count} message of this export is not in the room yet.",
                "{count} messages of this export are not in the room yet.", count)
        let choice = translator(
            "Merging adds what is missing and changes nothing else. A new room has all of it once more.")
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
                translator("Files that are not there any more: {files}").replacing(
                    "{files}", with: files(report.missingFiles)))
        }
        if let startDate = report.startDate {
            lines.append(
                translator("The server did not answer: what was said before {date} is missing.").replacing(
                    "{date}", with: wording.fullDate(startDate)))
        }
        return (lines + ["", report.folder.path]).joined(separator: "\n")
    }

    private func imported(_ report: ImportReport) -> String {
        let rooms = translator.plural("{count} conversation", "{count} conversations", report.conversations.count)
        return ([rooms, messages(report.messages)] + (report.files > 0 ? [files(report.files)] : []))
            .joined(separator: ", ")
    }

    /// Returns what was skipped, one line each, most frequent first.
    public func skippedItems(_ report: ImportReport) -> [String] {
        let sortedItems = report.skippedItems.sorted { ($0.value, "\($1.key)") > ($1.value, "\($0.key)") }
        return sortedItems.map { "\($0.value) × \(text(for: $0.key))" }
    }

    private func text(for item: ImportReport.SkippedItem) -> String {
        switch item {
        case .event(let kind): named(translator("event that is no message"), kind)
        case .unknownKind(let kind): named(translator("message of an unknown kind"), kind)
        case .wrongType(let name): named(translator("value of the wrong type"), name)
        case .incomplete(let name): named(translator("message without all that makes one"), name)
        case .strayLine: translator("line that belongs to no message")
        case .reaction: translator("reaction that could not be brought in")
        case .edit: translator("edit that could not be brought in")
        case .missingFile: translator("file that is not in the export")
        case .tooLong: translator("message that is too long")
        }
    }

    private func named(_ text: String, _ name: String) -> String {
        // The name comes from the imported file: limit it to one short line.
        let name = name.prefix(40).filter { !$0.isNewline && $0 != "\0" }
        return name.isEmpty ? text : "\(text) (\(name))"
    }

    public func text(for error: ArchiveError) -> String {
        switch error {
        case .unknownFormat:
            translator(
                "This is no export that is known: of Telegram as JSON, of WhatsApp as text, of Slack, or of Element as JSON."
            )
        case .unreadable(let path): translator("It cannot be read: {path}").replacing("{path}", with: path)
        case .truncated: translator("The file ends in the middle: it was not copied or downloaded to its end.")
        case .malformed(_, let reason):
            translator("The file is damaged: {reason}").replacing("{reason}", with: String(reason.prefix(200)))
        case .tooDeep, .tooLong: translator("The file is damaged: there is something in it beyond all bounds.")
        case .empty: translator("There is no message in it.")
        case .unwritable(let path): translator("It cannot be written to: {path}").replacing("{path}", with: path)
        case .diskFull: translator("The disk is full: nothing was stored")
        }
    }
}
