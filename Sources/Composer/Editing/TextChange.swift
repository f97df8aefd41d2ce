/// A change of the text made by a rule, as an undo step of its own.
struct TextChange: Sendable {
    /// Each relative to the text after the previous one.
    var edits: [TextEdit]
    var origin: EditOrigin
    /// The selection afterwards; `nil` puts the caret after the last insertion.
    var selection: TextRange?
    /// What to mark in the changed text.
    var marks: [WrittenText.Mark]
    /// The syntax of the changed text; `nil` leaves it as it is.
    var syntax: WrittenText.Syntax?

    init(
        _ edits: [TextEdit], origin: EditOrigin, selection: TextRange? = nil, marks: [WrittenText.Mark] = []
    ) {
        self.edits = edits
        self.origin = origin
        self.selection = selection
        self.marks = marks
    }

    init(
        replacing range: TextRange, with text: String, origin: EditOrigin, selection: TextRange? = nil,
        marks: [WrittenText.Mark] = []
    ) {
        self.init(
            [TextEdit(range: range, replacement: text)], origin: origin, selection: selection, marks: marks)
    }

    /// The number of UTF-16 code units by which the text grows.
    var addedLength: Int { edits.reduce(0) { $0 + $1.replacement.utf16.count - $1.range.length } }
}

extension TextChange {
    /// Creates the change that replaces a range with the result of a host's function (HKW-8). A selection outside
    /// the range stays on its characters; one inside keeps its offset from the start of the range, limited to the
    /// new text.
    init(transforming range: TextRange, into new: String, selection: TextRange) {
        self.init(
            replacing: range, with: new, origin: .code,
            selection: selection.moved(replacing: range, by: new.utf16.count))
    }
}

extension TextChange {
    /// Creates the change that moves a range to an offset, and selects it there; `nil` if that is not outside of it.
    init?(moving range: TextRange, to offset: Int, in document: ComposerDocument) {
        let target = document.aligned(.caret(offset)).location
        guard !range.isEmpty, target < range.location || target > range.end else { return nil }
        let written = document.written(in: range)
        let start = target < range.location ? target : target - range.length
        self.init(
            [
                TextEdit(range: range, replacement: ""),
                TextEdit(range: .caret(start), replacement: written.source),
            ],
            origin: .paste, selection: TextRange(location: start, length: range.length),
            marks: written.marks.map { $0.moved(by: start) })
    }
}

extension WrittenText.Mark {
    /// The mark in a text with this many more units before it.
    func moved(by units: Int) -> WrittenText.Mark {
        var mark = self
        mark.range.location += units
        return mark
    }
}
