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
        default: break
        }
    }

    /// Adds to the tray, or says why not (MIB-36).
    mutating func attach(_ attachment: Attachment) {
        let limits = configuration.attachments
        if let count = limits.count, attachments.count >= count { return refuse(.attachmentCount(limit: count)) }
        if let bytes = limits.bytes, attachment.bytes > bytes { return refuse(.attachmentSize(limit: bytes)) }
        attachments.append(attachment)
        noteAttachments()
    }

    private mutating func noteAttachments() {
        revision += 1
        observe(.attachmentsChanged)
        noteContentChange()
    }
}
