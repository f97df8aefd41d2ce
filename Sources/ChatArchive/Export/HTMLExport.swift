import ChatCore
import Foundation
import MessageMarkup

/// Writes an HTML page for light and dark mode that loads nothing from elsewhere. Comments contain the JSON records
/// that an import needs to restore the room completely.
struct HTMLExport: ExportWriter {
    static let fileName = "messages.html"
    /// The prefix of the comments that contain records.
    static let record = "parlance:"

    let times: ExportTimes
    private var json = JSONExport()
    private var day = ""

    init(times: ExportTimes) {
        self.times = times
    }

    func header(of room: ExportedRoom) throws -> String {
        let warning = room.warning.map { "<p><strong>\(Self.escaped($0))</strong></p>" } ?? ""
        return """
            <!DOCTYPE html>
            \(Self.comment(try json.record(of: room)))
            <html>
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:; media-src 'self' file:">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="generator" content="Parlance">
            <title>\(Self.escaped(room.name))</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <header><h1>\(Self.escaped(room.name))</h1><p>\(Self.escaped(Self.memberNames(room))) · <time>\(times.full(room.exportedAt))</time></p>\(warning)</header>
            <main>

            """
    }

    /// Returns JSON as an HTML comment. Characters that could end the comment, and bidirectional controls, become `\u`
    /// escapes.
    private static func comment(_ json: String) -> String {
        var text = ""
        var last: Unicode.Scalar = " "
        for scalar in json.unicodeScalars {
            let isHidden = "<>&".unicodeScalars.contains(scalar) || (scalar == "-" && last == "-") || isTurning(scalar)
            if isHidden {
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else {
                text.unicodeScalars.append(scalar)
            }
            last = scalar
        }
        return "<!--\(record)\(text)-->"
    }

    private static func memberNames(_ room: ExportedRoom) -> String {
        room.members.filter { !$0.hasLeft }.map(\.displayName).joined(separator: ", ")
    }

    mutating func text(of exported: ExportedMessage) throws -> String {
        let message = exported.message
        var html = Self.comment(try json.record(of: exported)) + "\n"
        let day = times.day(message.sentAt)
        if day != self.day {
            self.day = day
            html += "<h2>\(day)</h2>\n"
        }
        if let text = exported.happened {
            return html + "<p class=\"event\" id=\"\(Self.anchor(message.id))\">\(Self.escaped(text)) "
                + "<time datetime=\"\(times.full(message.sentAt))\">\(times.time(message.sentAt))</time></p>\n"
        }
        html += "<article id=\"\(Self.anchor(message.id))\"\(exported.isOwn ? " class=\"own\"" : "")>"
        html += "<p class=\"meta\"><b>\(Self.escaped(exported.senderName))</b> "
        html += "<time datetime=\"\(times.full(message.sentAt))\">\(times.time(message.sentAt))</time>"
        if let edited = message.editedAt { html += " <i title=\"\(times.full(edited))\">edited</i>" }
        html += "</p>"
        if let repliedToID = message.replyTo {
            html += "<p class=\"reply\"><a href=\"#\(Self.anchor(repliedToID))\">↩ Reply</a></p>"
        }
        html +=
            exported.placeholder.map { "<p class=\"gone\">\(Self.escaped($0))</p>" }
            ?? "<div>\(Self.body(exported))</div>"
        if let outdated = exported.outdated { html += "<p class=\"gone\">\(Self.escaped(outdated))</p>" }
        for file in exported.files { html += Self.file(file) }
        if !exported.reactions.isEmpty {
            let reactionTags = exported.reactions.map { reaction in
                "<span title=\"\(Self.escaped(reaction.names.joined(separator: ", ")))\">\(Self.escaped(reaction.text)) \(reaction.names.count)</span>"
            }
            html += "<p class=\"reactions\">\(reactionTags.joined(separator: " "))</p>"
        }
        return html + "</article>\n"
    }

    func ending() -> String { "</main>\n</body>\n</html>\n" }

    private static func body(_ exported: ExportedMessage) -> String {
        let html = visible(MessageMarkup.html(of: exported.body))
        return exported.message.kind == .emote ? "<i>* \(escaped(exported.senderName))</i> \(html)" : html
    }

    private static func file(_ file: ExportedMessage.File) -> String {
        let name = escaped(file.media.name)
        guard let path = file.path.map(address) else { return "<p class=\"gone\">\(name)</p>" }
        let text = escaped(file.media.altText ?? file.media.name)
        return switch file.media.messageKind {
        case .image: "<p><a href=\"\(path)\"><img src=\"\(path)\" alt=\"\(text)\" loading=\"lazy\"></a></p>"
        case .audio: "<p><audio controls preload=\"none\" src=\"\(path)\"></audio> <a href=\"\(path)\">\(name)</a></p>"
        case .video: "<p><video controls preload=\"none\" src=\"\(path)\"></video> <a href=\"\(path)\">\(name)</a></p>"
        default: "<p><a href=\"\(path)\">\(name)</a></p>"
        }
    }

    /// Returns a valid HTML ID: bytes other than ASCII letters and digits are escaped.
    static func anchor(_ id: MessageID) -> String {
        "m"
            + id.rawValue.utf8.map { byte in
                let isPlain =
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                return isPlain ? String(UnicodeScalar(byte)) : "_" + String(byte, radix: 16)
            }.joined()
    }

    static func address(_ path: String) -> String {
        path.split(separator: "/").map { component in
            component.utf8.map { byte in
                let isPlain =
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == 0x2D || byte == 0x2E || byte == 0x5F
                let hex = String(byte, radix: 16, uppercase: true)
                return isPlain ? String(UnicodeScalar(byte)) : "%" + (hex.count < 2 ? "0" : "") + hex
            }.joined()
        }.joined(separator: "/")
    }

    /// Replaces bidirectional controls, which would reorder the surrounding text.
    private static func visible(_ html: String) -> String {
        guard html.unicodeScalars.contains(where: isTurning) else { return html }
        var result = ""
        for scalar in html.unicodeScalars { result.unicodeScalars.append(isTurning(scalar) ? "\u{FFFD}" : scalar) }
        return result
    }

    private static func isTurning(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value) || scalar.value == 0
    }

    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return visible(result)
    }

    private static let style = """
        :root{color-scheme:light dark}body{font:16px/1.45 system-ui,sans-serif;max-width:48rem;margin:0 auto;padding:1rem}\
        h1{font-size:1.4rem;margin:0}header p,h2,.meta,.reactions,.reply,.gone{color:GrayText;font-size:.85rem;margin:.2rem 0}\
        h2{text-align:center;margin:1.5rem 0 .5rem}article{padding:.4rem .8rem;margin:.3rem 0;border-radius:.8rem;\
        background:color-mix(in srgb,CanvasText 7%,Canvas);width:fit-content;max-width:85%;overflow-wrap:anywhere}\
        article.own{margin-left:auto;background:color-mix(in srgb,#3584e4 22%,Canvas)}article:target{outline:2px solid #e5a50a}\
        article p{margin:.2rem 0}img,video{max-width:100%;max-height:24rem;border-radius:.5rem}\
        pre{overflow-x:auto;padding:.5rem;background:color-mix(in srgb,CanvasText 6%,Canvas);border-radius:.4rem}\
        blockquote{margin:.2rem 0;padding-left:.6rem;border-left:3px solid GrayText}table{border-collapse:collapse}\
        td,th{border:1px solid GrayText;padding:.2rem .5rem}
        """
}
