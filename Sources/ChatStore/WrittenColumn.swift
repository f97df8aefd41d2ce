import Composer
import Foundation

/// A text as its author wrote it, as it is stored beside its plain text: what is the same in both is there once.
struct WrittenColumn: Codable {
    /// Nil where it is the plain text.
    private var source: String?
    private var syntax: WrittenText.Syntax?
    private var marks: [WrittenText.Mark]?

    /// - Returns: nil for nothing.
    static func data(of written: WrittenText?, beside text: String) throws -> String? {
        guard let written else { return nil }
        var column = WrittenColumn()
        if !written.source.utf8.elementsEqual(text.utf8) { column.source = written.source }
        if written.syntax != .markdown { column.syntax = written.syntax }
        if !written.marks.isEmpty { column.marks = written.marks }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(column), as: UTF8.self)
    }

    /// Whether the text of the row `w` means what it says, as SQL: a list of rooms reads no text for that. The syntax is
    /// the last of the keys.
    static let isPlain = #"substr(w.data, -17) = '"syntax":"plain"}'"#

    /// - Returns: nil also for what can't be read: what the message says is still there.
    static func written(_ data: String?, beside text: String) -> WrittenText? {
        guard let data else { return nil }
        if data == "{}" { return WrittenText(text) }
        guard let column = try? JSONDecoder().decode(WrittenColumn.self, from: Data(data.utf8)) else { return nil }
        return WrittenText(column.source ?? text, syntax: column.syntax ?? .markdown, marks: column.marks ?? [])
    }
}
