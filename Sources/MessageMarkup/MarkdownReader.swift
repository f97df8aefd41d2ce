import CCmark
import ChatCore
import Synchronization

/// Reads Markdown into a body: CommonMark with tables, strikethrough and task lists, parsed by cmark-gfm.
///
/// As in every chat a line break in the text is a line break, and HTML is text. Addresses are found by
/// ``AddressFinder``, not by cmark's extension, which reads before the text in the version of Debian 12
/// (CVE-2023-22485).
struct MarkdownReader {
    private static let extensions: [String] = {
        cmark_gfm_core_extensions_ensure_registered()
        return ["table", "strikethrough", "tasklist"]
    }()
    /// cmark-gfm keeps the characters of its extensions in a global table and changes it during every parse.
    private static let parsing = Mutex(())

    private var builder: BodyBuilder
    /// How often each style is open.
    private var depths: [InlineStyle: Int] = [:]
    private var isLinkOfImage = false
    /// Bytes of addresses that links may still have: one definition can be referred to as often as there is room.
    private var addressBudget: Int
    private var tableColumn = 0
    private var alignments: [BodyTable.Alignment] = []
    private var isHeaderRow = false

    /// - Parameter text: of any length.
    static func body(_ text: String, isEmote: Bool, marks: InlineMarks) -> MessageBody {
        guard MarkdownEffort.isBearable(text), let document = parse(text) else {
            return MessageMarkup.body(plain: text, isEmote: isEmote)
        }
        defer { cmark_node_free(document) }
        var reader = MarkdownReader(builder: BodyBuilder(marks: marks), addressBudget: max(100_000, text.utf8.count))
        reader.read(document)
        return reader.builder.finished(isEmote: isEmote)
    }

    private static func parse(_ text: String) -> OpaquePointer? {
        parsing.withLock { _ in
            guard let parser = cmark_parser_new(CMARK_OPT_DEFAULT) else { return nil }
            defer { cmark_parser_free(parser) }
            for name in extensions {
                cmark_find_syntax_extension(name).map { _ = cmark_parser_attach_syntax_extension(parser, $0) }
            }
            var text = text
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { cmark_parser_feed(parser, $0.baseAddress, $0.count) }
            }
            return cmark_parser_finish(parser)
        }
    }

    /// Step by step, not by recursion: inline markup may be nested as deep as the text is long.
    private mutating func read(_ document: OpaquePointer) {
        guard let iterator = cmark_iter_new(document) else { return }
        defer { cmark_iter_free(iterator) }
        while true {
            let event = cmark_iter_next(iterator)
            guard event != CMARK_EVENT_DONE, let node = cmark_iter_get_node(iterator) else { return }
            read(node, isEntering: event == CMARK_EVENT_ENTER)
        }
    }

    private mutating func read(_ node: OpaquePointer, isEntering: Bool) {
        switch cmark_node_get_type(node) {
        case CMARK_NODE_TEXT, CMARK_NODE_HTML_INLINE, CMARK_NODE_FOOTNOTE_REFERENCE: builder.add(literal(node))
        case CMARK_NODE_SOFTBREAK, CMARK_NODE_LINEBREAK: builder.breakLine()
        case CMARK_NODE_CODE:
            let before = builder.look
            builder.look.style.insert(.code)
            builder.add(literal(node))
            builder.look = before
        case CMARK_NODE_STRONG: style(.bold, isEntering)
        case CMARK_NODE_EMPH: style(.italic, isEntering)
        case CMARK_NODE_LINK: link(node, isEntering)
        case CMARK_NODE_IMAGE: image(node, isEntering)
        case CMARK_NODE_PARAGRAPH: builder.endParagraph()
        case CMARK_NODE_HEADING:
            if isEntering {
                builder.endParagraph()
            } else {
                builder.endHeading(level: Int(cmark_node_get_heading_level(node)))
            }
        case CMARK_NODE_CODE_BLOCK: code(node)
        case CMARK_NODE_HTML_BLOCK:
            builder.endParagraph()
            builder.add(literal(node))
            builder.endParagraph()
        case CMARK_NODE_THEMATIC_BREAK:
            builder.endParagraph()
            builder.add(.rule)
        case CMARK_NODE_BLOCK_QUOTE: container(.quote, isEntering)
        case CMARK_NODE_LIST: list(node, isEntering)
        default: readExtension(node, isEntering)
        }
    }

    /// The nodes of extensions have no constants, only names; a task's item is one of them.
    private mutating func readExtension(_ node: OpaquePointer, _ isEntering: Bool) {
        switch String(cString: cmark_node_get_type_string(node)) {
        case "strikethrough": style(.strike, isEntering)
        case "item": container(.item(isChecked: nil), isEntering)
        case "tasklist":
            container(.item(isChecked: cmark_gfm_extensions_get_tasklist_item_checked(node)), isEntering)
        case "table":
            if isEntering { readAlignments(of: node) }
            container(.table, isEntering)
        case "table_header", "table_row":
            tableColumn = 0
            isHeaderRow = cmark_gfm_extensions_get_table_row_is_header(node) != 0
            container(.row, isEntering)
        case "table_cell":
            let alignment = alignments.indices.contains(tableColumn) ? alignments[tableColumn] : .start
            container(.cell(isHeader: isHeaderRow, alignment), isEntering)
            if !isEntering { tableColumn += 1 }
        default: break
        }
    }

    // MARK: Parts

    private func literal(_ node: OpaquePointer) -> String {
        cmark_node_get_literal(node).map { String(cString: $0) } ?? ""
    }

    private mutating func container(_ container: BodyBuilder.Container, _ isEntering: Bool) {
        if isEntering { builder.open(container) } else { builder.close() }
    }

    /// The same style may be nested in itself.
    private mutating func style(_ style: InlineStyle, _ isEntering: Bool) {
        let depth = depths[style, default: 0] + (isEntering ? 1 : -1)
        depths[style] = depth
        if depth > 0 { builder.look.style.insert(style) } else { builder.look.style.remove(style) }
    }

    private mutating func link(_ node: OpaquePointer, _ isEntering: Bool) {
        builder.look.link = nil
        builder.look.mention = nil
        guard isEntering, addressBudget > 0, let address = cmark_node_get_url(node).map({ String(cString: $0) }),
            let target = LinkTarget(address)
        else { return }
        addressBudget -= address.utf8.count
        builder.look.link = BodyLink(unjudged: target)
        builder.look.mention = target.mention
    }

    /// A picture from the web is a link to it: nothing is fetched from where a text says.
    private mutating func image(_ node: OpaquePointer, _ isEntering: Bool) {
        if isEntering { isLinkOfImage = builder.look.link == nil }
        if isLinkOfImage { link(node, isEntering) }
    }

    private mutating func list(_ node: OpaquePointer, _ isEntering: Bool) {
        let isOrdered = cmark_node_get_list_type(node) == CMARK_ORDERED_LIST
        container(.list(start: isOrdered ? Int(cmark_node_get_list_start(node)) : nil), isEntering)
    }

    private mutating func code(_ node: OpaquePointer) {
        builder.endParagraph()
        var code = literal(node)
        if code.utf8.last == 0x0A { code = String(Substring(code.utf8.dropLast())) }
        let info = cmark_node_get_fence_info(node).map { String(cString: $0) } ?? ""
        let language = info.isEmpty ? nil : CodeLanguage(info: info)
        if !code.isEmpty { builder.add(.code(code, language: language?.name)) }
    }

    private mutating func readAlignments(of table: OpaquePointer) {
        let count = Int(cmark_gfm_extensions_get_table_columns(table))
        guard let letters = cmark_gfm_extensions_get_table_alignments(table) else { return alignments = [] }
        alignments = (0..<count).map { column in
            switch letters[column] {
            case UInt8(ascii: "c"): .center
            case UInt8(ascii: "r"): .end
            default: .start
            }
        }
    }
}
