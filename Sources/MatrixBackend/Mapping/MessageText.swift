import ChatCore
import JSONReading

/// What the content of a message says, whoever wrote it.
struct MessageText: Equatable {
    var text: String
    var formatted: String?
    var kind = Message.Kind.text
    var attachments: [MediaReference] = []

    init(text: String, kind: Message.Kind = .text) {
        self.text = text
        self.kind = kind
    }

    /// - Returns: nil if there is nothing to be shown.
    init?(_ content: JSONValue, isSticker: Bool = false) {
        guard let body = content["body"]?.string, body.utf8.count <= ChatLimits.messageBytes else { return nil }
        text = Self.shown(body)
        switch content["msgtype"]?.string {
        case "m.emote": kind = .emote
        case "m.notice": kind = .notice
        case "m.image": kind = .image
        case "m.file": kind = .file
        case "m.audio": kind = .audio
        case "m.video": kind = .video
        // The specification's own advice for kinds that are not known.
        default: kind = isSticker ? .image : .text
        }
        if content["format"]?.string == "org.matrix.custom.html", let html = content["formatted_body"]?.string,
            html.utf8.count <= ChatLimits.messageBytes
        {
            formatted = Self.shown(html)
        }
        guard [.image, .file, .audio, .video].contains(kind) else {
            if text.allSatisfy(\.isWhitespace), formatted == nil { return nil }
            return
        }
        readFile(content, body: text)
    }

    /// A file has a name of its own only beside a caption.
    private mutating func readFile(_ content: JSONValue, body: String) {
        let ownName = content["filename"]?.string.map(Self.shown)
        guard let uri = content["url"]?.string, uri.hasPrefix("mxc://"), uri.utf8.count <= 1000 else {
            // Encrypted, or broken: its name is shown.
            kind = .text
            return
        }
        let info = content["info"]
        func size(_ name: String) -> Int? { info?[name]?.integer.flatMap { $0 >= 0 ? Int(clamping: $0) : nil } }
        let isCaption = ownName.map { $0 != body } ?? false
        let name = ownName ?? body
        attachments = [
            MediaReference(
                uri: uri, name: name.isEmpty ? "file" : String(name.prefix(255)),
                type: Self.type(info?["mimetype"]?.string, of: kind), bytes: size("size"), width: size("w"),
                height: size("h"), duration: size("duration"), thumbnailURI: Self.thumbnail(info))
        ]
        if !isCaption { text = "" }
        if !isCaption { formatted = nil }
    }

    private static func thumbnail(_ info: JSONValue?) -> String? {
        guard let uri = info?["thumbnail_url"]?.string, uri.hasPrefix("mxc://"), uri.utf8.count <= 1000 else {
            return nil
        }
        return uri
    }

    /// What a sender calls a picture is shown as one only if it says so.
    private static func type(_ said: String?, of kind: Message.Kind) -> String {
        let said = said.map { $0.lowercased() } ?? ""
        let isType = said.utf8.count <= 100 && said.split(separator: "/").count == 2 && said.allSatisfy(\.isASCII)
        let family: String? =
            switch kind {
            case .image: "image/"
            case .audio: "audio/"
            case .video: "video/"
            default: nil
            }
        if isType, family.map({ said.hasPrefix($0) }) ?? true { return said }
        return family.map { $0 + "x-unknown" } ?? "application/octet-stream"
    }

    /// Programs before version 1.13 of the specification put what is answered before the answer.
    mutating func dropReplyFallback() {
        guard text.hasPrefix("> <") || text.hasPrefix("> * <") else { return }
        var rest = text[...]
        while rest.hasPrefix("> ") || rest == ">" || rest.hasPrefix(">\n") {
            rest = rest[(rest.firstIndex(of: "\n").map(rest.index(after:)) ?? rest.endIndex)...]
        }
        if rest.hasPrefix("\n") { rest = rest.dropFirst() }
        // An answer that is nothing but a quotation is no fallback.
        if !rest.allSatisfy(\.isWhitespace) { text = String(rest) }
    }

    /// SQLite takes a text to end at a NUL: what is behind it would be lost.
    private static func shown(_ text: String) -> String {
        text.utf8.contains(0) ? String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value != 0 })) : text
    }
}
