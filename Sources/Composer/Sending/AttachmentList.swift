/// The attachments of the new message; edits of sent messages have none (MIB-36).
struct AttachmentList: Sendable {
    private(set) var items: [Attachment] = []
    /// The attachments of the new message while a sent one is edited.
    private(set) var stashed: [Attachment]?
    /// Incremented on every change.
    private(set) var revision = 0

    func attachment(at index: Int) -> Attachment? { items.indices.contains(index) ? items[index] : nil }

    /// The attachment that an image in the text stands for. Files with equal content share their source once they are
    /// stored, so a source alone identifies none of them.
    func firstIndex(ofSource source: String?) -> Int? { items.firstIndex { $0.source == source } }

    // MARK: Changing; each returns whether it did anything

    mutating func add(_ attachment: Attachment) -> Bool {
        replace(with: items + [attachment])
    }

    mutating func remove(at index: Int) -> Bool {
        guard items.indices.contains(index) else { return false }
        items.remove(at: index)
        revision += 1
        return true
    }

    mutating func setUpload(_ upload: Attachment.Upload, at index: Int) -> Bool {
        guard items.indices.contains(index) else { return false }
        items[index].upload = upload
        revision += 1
        return true
    }

    /// Sets the alternative text of one attachment; `nil` removes it.
    mutating func describe(_ index: Int, as altText: String?) -> Bool {
        guard items.indices.contains(index), items[index].altText != altText else { return false }
        items[index].altText = altText
        revision += 1
        return true
    }

    mutating func move(from index: Int, to other: Int) -> Bool {
        guard items.indices.contains(index), items.indices.contains(other), index != other else { return false }
        items.insert(items.remove(at: index), at: other)
        revision += 1
        return true
    }

    /// Moves an attachment before the others with its source, so that an image in the text stands for it.
    mutating func moveBeforeTwins(_ index: Int) -> Bool {
        guard let attachment = attachment(at: index), let first = firstIndex(ofSource: attachment.source) else {
            return false
        }
        return move(from: index, to: first)
    }

    /// Updates the attachment with this source, including one set aside. While a file is copied, its source is unique.
    mutating func update(_ source: String, to attachment: Attachment) -> Bool {
        if let index = firstIndex(ofSource: source) {
            guard items[index] != attachment else { return false }
            items[index] = attachment
        } else if let index = stashed?.firstIndex(where: { $0.source == source }) {
            guard stashed?[index] != attachment else { return false }
            stashed?[index] = attachment
        } else {
            return false
        }
        revision += 1
        return true
    }

    mutating func replace(with others: [Attachment]) -> Bool {
        items = others
        revision += 1
        return true
    }

    /// Puts those of an earlier draft before those of the new message.
    mutating func putBefore(_ others: [Attachment]) -> Bool {
        guard !others.isEmpty else { return false }
        if let stashed { self.stashed = others + stashed } else { items = others + items }
        revision += 1
        return true
    }

    // MARK: Editing a sent message

    /// Sets the attachments aside when an edit begins.
    mutating func setAside() {
        if stashed == nil { stashed = items }
        items = []
    }

    /// Restores the stashed attachments when the edit ends.
    mutating func bringBack() {
        guard let stashed else { return }
        items = stashed
        self.stashed = nil
    }

    mutating func restore(_ draft: ComposerDraft) {
        items = draft.content.attachments
        if draft.mode != .compose { stashed = draft.stash?.attachments ?? [] }
    }

    // MARK: Images in the text

    /// Returns the change that inserts an image on its own line and moves it if it is already in the text; `nil` for
    /// other attachments and until the upload is ready (MIB-19).
    func placement(of index: Int, in document: ComposerDocument, at range: TextRange) -> TextChange? {
        guard items.indices.contains(index), items[index].type.hasPrefix("image/"), items[index].upload == .ready,
            let source = items[index].source
        else { return nil }
        let isLineStart = document.character(before: range.location)?.isLineBreak ?? true
        let text = (isLineStart ? "" : "\n") + Span.imageCharacter + "\n"
        let added = text.utf16.count - range.length
        var end = range.location + text.utf16.count
        var edits = [TextEdit(range: range, replacement: text)]
        for span in document.images.reversed() where span.imageSource == source && !range.covers(span.range) {
            let isBehind = span.range.location >= range.end
            let location = span.range.location + (isBehind ? added : 0)
            edits.append(TextEdit(range: TextRange(location: location, length: 1), replacement: ""))
            if !isBehind { end -= 1 }
        }
        let image = WrittenText.Mark(.file(source), over: TextRange(location: end - 2, length: 1))
        return TextChange(edits, origin: .code, selection: .caret(end), marks: [image])
    }

    /// Removes the images from a pasted text that aren't attached or are already in the text outside of `range`.
    func withoutForeignImages(
        _ written: WrittenText, in document: ComposerDocument, over range: TextRange
    ) -> WrittenText {
        let hasImages = written.marks.contains { if case .file = $0.content { true } else { false } }
        guard hasImages else { return written }
        return ComposerDocument(written).removingImages { source in
            let stays = document.images.contains { $0.imageSource == source && !range.covers($0.range) }
            return stays || !items.contains { $0.source == source }
        }.written
    }
}

extension AttachmentLimits {
    /// Returns the reason why an attachment can't be added to this many others, or `nil` if it can (MIB-36).
    func rejection(of attachment: Attachment, besides others: Int) -> ComposerRejection? {
        if let count, others >= count { return .attachmentCount(limit: count) }
        if let bytes, attachment.bytes > bytes { return .attachmentSize(limit: bytes) }
        return nil
    }
}
