import ChatCore
import JSONReading

/// Reads the content of a message event.
extension Message.Content {
    /// - Returns: `nil` if there is nothing to display.
    init?(json content: JSONValue, isSticker: Bool = false) {
        guard let body = content["body"]?.string, body.utf8.count <= ChatLimits.messageBytes else { return nil }
        self.init(Self.sanitized(body))
        switch content["msgtype"]?.string {
        case "m.emote": kind = .emote
        case "m.notice": kind = .notice
        case "m.image": kind = .image
        case "m.file": kind = .file
        case "m.audio": kind = .audio
        case "m.video": kind = .video
        // Unknown message types are displayed as text (specification, `m.room.message` msgtypes).
        default: kind = isSticker ? .image : .text
        }
        if content["format"]?.string == "org.matrix.custom.html", let html = content["formatted_body"]?.string,
            html.utf8.count <= ChatLimits.messageBytes
        {
            formattedText = Self.sanitized(html)
        }
        mentionsEveryone = content["m.mentions"]?["room"]?.bool == true
        if content["msgtype"]?.string == "m.location" { readLocation(content) }
        guard [.image, .file, .audio, .video].contains(kind) else {
            if text.allSatisfy(\.isWhitespace), formattedText == nil { return nil }
            return
        }
        readFile(content, body: text)
    }

    /// Displays a location as a map link after the sender's description.
    private mutating func readLocation(_ content: JSONValue) {
        let uri = content["geo_uri"]?.string ?? content["m.location"]?["uri"]?.string
        guard let link = uri.flatMap(MapLink.init)?.address else { return }
        let name = text.allSatisfy(\.isWhitespace) || text.contains("geo:") ? "" : text
        text = name.isEmpty ? link : "\(name)\n\(link)"
        formattedText = nil
    }

    /// Reads a file's reference. `filename` differs from `body` only if `body` is a caption.
    private mutating func readFile(_ content: JSONValue, body: String) {
        let filename = content["filename"]?.string.map(Self.sanitized)
        guard let uri = MatrixEvent.contentURI(content["url"]) else {
            // Encrypted or invalid: only the name is displayed.
            kind = .text
            return
        }
        let info = content["info"]
        func size(_ name: String) -> Int? { info?[name]?.integer.flatMap { $0 >= 0 ? Int(clamping: $0) : nil } }
        let altText = Self.altText(content)
        // An alternative text is not a caption, although it is sent as `body` for other clients.
        let isCaption = filename.map { $0 != body && altText != body } ?? false
        let name = filename ?? body
        let isVoice = content["org.matrix.msc3245.voice"] != nil || content["m.voice"] != nil
        let audio = content["org.matrix.msc1767.audio"]
        attachments = [
            MediaReference(
                uri: uri, name: name.isEmpty ? "file" : String(name.prefix(255)),
                type: Self.type(info?["mimetype"]?.string, of: kind), bytes: size("size"), width: size("w"),
                height: size("h"),
                duration: size("duration") ?? audio?["duration"]?.integer.map { Int(clamping: max(0, $0)) },
                thumbnailURI: Self.thumbnail(info), altText: altText, blurHash: Self.blurHash(info),
                loudness: isVoice && kind == .audio ? Self.waveform(audio?["waveform"]?.array ?? []) : nil)
        ]
        if !isCaption { text = "" }
        if !isCaption { formattedText = nil }
        if !isCaption { mentionsEveryone = false }
    }

    /// Checks only the length and characters; the renderer decodes it.
    private static func blurHash(_ info: JSONValue?) -> String? {
        let text = (info?["xyz.amorgan.blurhash"] ?? info?["blurhash"])?.string
        return text.flatMap { (6...166).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 > 0x20 } ? $0 : nil }
    }

    /// Downsamples a waveform to ``MediaDescription/maxWaveformSamples``, each the maximum of the samples it replaces.
    private static func waveform(_ samples: [JSONValue]) -> [Int] {
        let values = samples.prefix(10_000).map { value in
            Int(min(max(value.integer ?? 0, 0), Int64(MediaDescription.maxAmplitude)))
        }
        let count = min(values.count, MediaDescription.maxWaveformSamples)
        return (0..<count).map { index in
            values[index * values.count / count..<max((index + 1) * values.count / count, index + 1)].max() ?? 0
        }
    }

    /// Returns the plain-text alternative text (MSC3552).
    private static func altText(_ content: JSONValue) -> String? {
        let block = content["m.alt_text"] ?? content["org.matrix.msc1767.alt_text"]
        let forms = (block?["m.text"] ?? block?["org.matrix.msc1767.text"])?.array ?? []
        let plain = forms.first { ($0["mimetype"]?.string ?? "text/plain") == "text/plain" }
        guard let text = (plain?["body"] ?? block?["org.matrix.msc1767.text"])?.string, !text.isEmpty,
            text.utf8.count <= 10_000
        else { return nil }
        return sanitized(text)
    }

    private static func thumbnail(_ info: JSONValue?) -> String? {
        MatrixEvent.contentURI(info?["thumbnail_url"])
    }

    /// Returns the declared MIME type if it is well-formed and matches the message type, else an unknown type.
    private static func type(_ mimeType: String?, of kind: Message.Kind) -> String {
        let mimeType = mimeType.map { $0.lowercased() } ?? ""
        let isType =
            mimeType.utf8.count <= 100 && mimeType.split(separator: "/").count == 2 && mimeType.allSatisfy(\.isASCII)
        let family: String? =
            switch kind {
            case .image: "image/"
            case .audio: "audio/"
            case .video: "video/"
            default: nil
            }
        if isType, family.map({ mimeType.hasPrefix($0) }) ?? true { return mimeType }
        return family.map { $0 + "x-unknown" } ?? "application/octet-stream"
    }

    /// Removes the quoted message that clients put before a reply before version 1.13 of the specification.
    mutating func dropReplyFallback() {
        guard text.hasPrefix("> <") || text.hasPrefix("> * <") else { return }
        var rest = text[...]
        while rest.hasPrefix("> ") || rest == ">" || rest.hasPrefix(">\n") {
            rest = rest[(rest.firstIndex(of: "\n").map(rest.index(after:)) ?? rest.endIndex)...]
        }
        if rest.hasPrefix("\n") { rest = rest.dropFirst() }
        // Keep a message that consists of nothing but a quotation.
        if !rest.allSatisfy(\.isWhitespace) { text = String(rest) }
    }

    /// Removes NUL characters, at which SQLite would truncate the text.
    private static func sanitized(_ text: String) -> String {
        text.utf8.contains(0) ? String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value != 0 })) : text
    }
}
