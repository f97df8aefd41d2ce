extension ComposerEngine {
    mutating func performAttachment(_ event: ComposerEvent) {
        switch event {
        case .attach(let attachment): attach(attachment)
        case .detach(let place):
            guard attachments.indices.contains(place) else { return }
            let source = attachments.remove(at: place).source
            if let span = document.pictures.first(where: { $0.picture == source }) {
                replace(span.range, with: "", origin: .code)
            }
            noteAttachments()
        case .upload(let place, let upload):
            guard attachments.indices.contains(place) else { return }
            attachments[place].upload = upload
            noteAttachments()
        case .moveAttachment(let place, let other): moveAttachment(place, to: other)
        case .placeInText(let place): placeInText(place)
        case .updateAttachment(let source, let attachment): updateAttachment(source, attachment)
        default: break
        }
    }

    /// Adds to the tray, or says why not (MIB-36).
    mutating func attach(_ attachment: Attachment) {
        // An edit changes a text; what belongs to it stays.
        guard !isEditing else { return refuse(.attachmentWhileEditing) }
        let limits = configuration.attachments
        if let count = limits.count, attachments.count >= count { return refuse(.attachmentCount(limit: count)) }
        if let bytes = limits.bytes, attachment.bytes > bytes { return refuse(.attachmentSize(limit: bytes)) }
        attachments.append(attachment)
        noteAttachments()
    }

    /// In a line of its own, the caret behind it: one undo step (MIB-19). The attachment stays in the list whatever becomes
    /// of its place in the text, so that no undo loses a file.
    private mutating func placeInText(_ place: Int) {
        guard !isEditing, attachments.indices.contains(place), attachments[place].type.hasPrefix("image/"),
            attachments[place].upload == .ready, let source = attachments[place].source
        else { return }
        let range = selection
        let isLineStart = document.character(before: range.location)?.isLineBreak ?? true
        let text = (isLineStart ? "" : "\n") + Span.pictureCharacter + "\n"
        guard admit(range, text, .typed) == text else { return }
        closeCompletion()
        history.beginTransaction()
        let placed = document.pictures.filter { $0.picture == source && !range.covers($0.range) }.map(\.id)
        replace(range, with: text, origin: .code)
        document.addPicture(source, at: range.location + text.utf16.count - 2)
        for span in document.pictures.reversed() where placed.contains(span.id) {
            let shift = span.range.location < selection.location ? 1 : 0
            replace(span.range, with: "", origin: .code, selecting: .caret(selection.location - shift))
        }
        recordSpans()
        history.endTransaction()
    }

    private mutating func moveAttachment(_ place: Int, to other: Int) {
        guard attachments.indices.contains(place), attachments.indices.contains(other), place != other else { return }
        attachments.insert(attachments.remove(at: place), at: other)
        noteAttachments()
    }

    private mutating func updateAttachment(_ source: String, _ attachment: Attachment) {
        if let place = attachments.firstIndex(where: { $0.source == source }) {
            guard attachments[place] != attachment else { return }
            attachments[place] = attachment
        } else if let place = stash?.attachments.firstIndex(where: { $0.source == source }) {
            guard stash?.attachments[place] != attachment else { return }
            stash?.attachments[place] = attachment
        } else {
            return
        }
        noteAttachments()
    }

    mutating func setAttachments(_ others: [Attachment]) {
        attachments = others
        noteAttachments()
    }

    private mutating func noteAttachments() {
        revision += 1
        observe(.attachmentsChanged)
        noteContentChange()
    }
}
