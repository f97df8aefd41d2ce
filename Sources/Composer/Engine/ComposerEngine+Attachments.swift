extension ComposerEngine {
    mutating func performAttachment(_ event: ComposerEvent) {
        switch event {
        case .attach(let attachment): attach(attachment)
        case .detach(let place):
            guard attachments.indices.contains(place) else { return }
            attachments.remove(at: place)
            noteAttachments()
        case .upload(let place, let upload):
            guard attachments.indices.contains(place) else { return }
            attachments[place].upload = upload
            noteAttachments()
        case .moveAttachment(let place, let other): moveAttachment(place, to: other)
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

    private mutating func noteAttachments() {
        revision += 1
        observe(.attachmentsChanged)
        noteContentChange()
    }
}
