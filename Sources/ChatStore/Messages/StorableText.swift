import ChatCore

extension String {
    /// The text with replacement characters for NUL, at which GRDB ends a text.
    var storable: String {
        guard utf8.contains(0) else { return self }
        // By scalars: a mark after NUL belongs to its character.
        return String(String.UnicodeScalarView(unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
}

extension Wording {
    /// The wording as it is stored. Its source text is stored as JSON, which escapes NUL.
    var storable: Wording {
        var wording = self
        wording.text = text.storable
        wording.html = html?.storable
        return wording
    }
}

extension Message.Content {
    /// The content as it is stored.
    var storable: Message.Content {
        var content = self
        content.wording = wording.storable
        return content
    }
}

extension NewMessage {
    /// The message as it is stored.
    var storable: NewMessage {
        var message = self
        message.content = content.storable
        return message
    }
}
