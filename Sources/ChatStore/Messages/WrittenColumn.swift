import ChatCore
import Composer
import Foundation

/// The stored form of a source text. It is stored beside the plain text and omits what both have in common.
struct WrittenColumn: Codable {
    /// `nil` if it equals the plain text.
    private var source: String?
    private var syntax: WrittenText.Syntax?
    private var marks: [WrittenText.Mark]?
    /// Whether `@room` was mentioned; only for texts written elsewhere, which have no other fields.
    private var everyone: Bool?

    /// Returns the stored form, or `nil` if there is nothing to store.
    static func data(of wording: Wording) throws -> String? {
        guard wording.written == nil, wording.mentionsEveryone else {
            return try data(of: wording.written, beside: wording.text)
        }
        var column = WrittenColumn()
        column.everyone = true
        return try column.encoded()
    }

    /// Returns the stored form, or `nil` if there is nothing to store.
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

    /// An SQL condition: the source text of the row `w` is plain text. Nothing is decoded, because `syntax` is the last of
    /// the sorted keys.
    static let isPlain = #"substr(w.data, -17) = '"syntax":"plain"}'"#

    /// An SQL condition: the row `w` has a source text written in this application.
    static let isWrittenHere = #"w.data <> '{"everyone":true}'"#

    /// Adds stored data to a text and its HTML. Unreadable data is ignored: the text is still available.
    static func complete(_ wording: inout Wording, _ data: String?) {
        wording.written = written(data, beside: wording.text)
        wording.mentionsEveryone = wording.written == nil && data.flatMap(column)?.everyone == true
    }

    /// Returns the source text, or `nil` if it is unreadable or the text was written elsewhere.
    static func written(_ data: String?, beside text: String) -> WrittenText? {
        guard let data else { return nil }
        if data == "{}" { return WrittenText(text) }
        guard let column = column(data), column.everyone == nil else { return nil }
        return WrittenText(column.source ?? text, syntax: column.syntax ?? .markdown, marks: column.marks ?? [])
    }

    /// Returns `nil` for what a later version wrote or what is damaged: the message then has its plain text only.
    private static func column(_ data: String) -> WrittenColumn? {
        try? JSONDecoder().decode(WrittenColumn.self, from: Data(data.utf8))
    }
}
