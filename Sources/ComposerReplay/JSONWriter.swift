/// Writes JSON on one line, with keys in insertion order.
struct JSONWriter {
    private(set) var text = ""
    private var needsComma = false

    mutating func object(_ body: (inout JSONWriter) -> Void) { enclosed("{", "}", body) }
    mutating func array<Element>(_ elements: some Sequence<Element>, _ body: (inout JSONWriter, Element) -> Void) {
        enclosed("[", "]") { writer in
            for element in elements { body(&writer, element) }
        }
    }

    mutating func key(_ key: String) {
        string(key)
        text += ":"
        needsComma = false
    }

    mutating func null() { value("null") }
    mutating func bool(_ flag: Bool) { value(flag ? "true" : "false") }
    mutating func integer(_ number: Int) { value(String(number)) }

    mutating func string(_ string: String) {
        var quoted = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{0}"..<"\u{20}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        value(quoted + "\"")
    }

    mutating func string(_ string: String?) {
        if let string { self.string(string) } else { null() }
    }

    private mutating func value(_ value: String) {
        if needsComma { text += "," }
        text += value
        needsComma = true
    }

    private mutating func enclosed(_ open: String, _ close: String, _ body: (inout JSONWriter) -> Void) {
        if needsComma { text += "," }
        text += open
        needsComma = false
        body(&self)
        text += close
        needsComma = true
    }
}
