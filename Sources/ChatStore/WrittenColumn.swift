import ChatCore
import Composer
import Foundation

/// What is known of how a text was written, as it is stored beside the plain text: what is the same in both is there once.
struct WrittenColumn: Codable {
    /// Nil where it is the plain text.
    private var source: String?
    private var syntax: WrittenText.Syntax?
    private var marks: [WrittenText.Mark]?
    /// Only of a text that was written elsewhere: nothing else is known of it.
    private var everyone: Bool?

    /// - Returns: nil for nothing.
    static func data(of wording: Wording) throws -> String? {
        guard wording.written == nil, wording.mentionsEveryone else {
            return try data(of: wording.written, beside: wording.text)
        }
        var column = WrittenColumn()
        column.everyone = true
        return try column.encoded()
    }

    /// - Returns: nil for nothing.
    static func data(of written: WrittenText?, beside text: String) throws -> String? {
        guard let written else { return nil }
        var column = WrittenColumn()
        if !written.source.utf8.elementsEqual(text.utf8) { column.source = written.source }
        if written.syntax != .markdown { column.syntax = written.syntax }
        if !written.marks.isEmpty { column.marks = written.marks }
        return try column.encoded()
    }

    private func encoded() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Whether the text of the row `w` means what it says, as SQL: a list of rooms reads no text for that. The syntax is
    /// the last of the keys.
    static let isPlain = #"substr(w.data, -17) = '"syntax":"plain"}'"#

    /// Whether the row `w` has a text that was written here, as SQL.
    static let isWrittenHere = #"w.data <> '{"everyone":true}'"#

    /// Adds what is stored to a text and its HTML. What can't be read adds nothing: what the message says is still there.
    static func complete(_ wording: inout Wording, _ data: String?) {
        wording.written = written(data, beside: wording.text)
        wording.mentionsEveryone = wording.written == nil && data.flatMap(column)?.everyone == true
    }

    /// - Returns: nil also for what can't be read, and for a text that was written elsewhere.
    static func written(_ data: String?, beside text: String) -> WrittenText? {
        guard let data else { return nil }
        if data == "{}" { return WrittenText(text) }
        guard let column = column(data), column.everyone == nil else { return nil }
        return WrittenText(column.source ?? text, syntax: column.syntax ?? .markdown, marks: column.marks ?? [])
    }

    private static func column(_ data: String) -> WrittenColumn? {
        try? JSONDecoder().decode(WrittenColumn.self, from: Data(data.utf8))
    }
}
