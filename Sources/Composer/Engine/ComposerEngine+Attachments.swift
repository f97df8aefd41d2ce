extension ComposerEngine {
    mutating func performAttachment(_ event: ComposerEvent) {
        switch event {
        case .attach(let attachment): attach(attachment)
        case .detach(let index):
            guard attachments.indices.contains(index) else { return }
            let source = attachments.remove(at: index).source
            if let span = document.images.first(where: { $0.imageSource == source }) {
                replace(span.range, with: "", origin: .code)
            }
            noteAttachments()
        case .upload(let index, let upload):
            guard attachments.indices.contains(index) else { return }
            attachments[index].upload = upload
            noteAttachments()
        case .moveAttachment(let index, let other): moveAttachment(index, to: other)
        case .placeInText(let index): placeInText(index)
        case .updateAttachment(let source, let attachment): updateAttachment(source, attachment)
        default: break
        }
    }

    /// Adds an attachment, or rejects it with the reason (MIB-36).
    mutating func attach(_ attachment: Attachment) {
        // Edits only change the text; the attachments of a message are fixed.
        guard !isEditing else { return reject(.attachmentWhileEditing) }
        let limits = configuration.attachments
        if let count = limits.count, attachments.count >= count { return reject(.attachmentCount(limit: count)) }
        if let bytes = limits.bytes, attachment.bytes > bytes { return reject(.attachmentSize(limit: bytes)) }
        attachments.append(attachment)
        noteAttachments()
    }

    /// Inserts an image on its own line and moves the caret behind it, as one undo step (MIB-19). The attachment
    /// stays in the list even if its placeholder is deleted, so that undo can't lose a file.
    private mutating func placeInText(_ index: Int) {
        guard !isEditing, attachments.indices.contains(index), attachments[index].type.hasPrefix("image/"),
            attachments[index].upload == .ready, let source = attachments[index].source
        else { return }
        let range = selection
        let isLineStart = document.character(before: range.location)?.isLineBreak ?? true
        let text = (isLineStart ? "" : "\n") + Span.imageCharacter + "\n"
        guard admit(range, text, .typed) == text else { return }
        closeCompletion()
        history.beginTransaction()
        let placedIDs = document.images.filter { $0.imageSource == source && !range.covers($0.range) }.map(\.id)
        replace(range, with: text, origin: .code)
        document.addImage(source, at: range.location + text.utf16.count - 2)
        for span in document.images.reversed() where placedIDs.contains(span.id) {
            let shift = span.range.location < selection.location ? 1 : 0
            replace(span.range, with: "", origin: .code, selecting: .caret(selection.location - shift))
        }
        recordSpans()
        history.endTransaction()
    }

    private mutating func moveAttachment(_ index: Int, to other: Int) {
        guard attachments.indices.contains(index), attachments.indices.contains(other), index != other else { return }
        attachments.insert(attachments.remove(at: index), at: other)
        noteAttachments()
    }

    private mutating func updateAttachment(_ source: String, _ attachment: Attachment) {
        if let index = attachments.firstIndex(where: { $0.source == source }) {
            guard attachments[index] != attachment else { return }
            attachments[index] = attachment
        } else if let index = stash?.attachments.firstIndex(where: { $0.source == source }) {
            guard stash?.attachments[index] != attachment else { return }
            stash?.attachments[index] = attachment
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
