import CMD4C
import ChatCore

/// Reads Markdown into a body: CommonMark 0.31.2 with tables, strikethrough and task lists, parsed by MD4C.
///
/// As in every chat a line break in the text is a line break, and HTML is text: it is recognised all the same, so that
/// marks in it stay as they are. Addresses are found by ``AddressFinder``, as in every other text, and not by MD4C's
/// extensions.
struct MarkdownReader {
    private static let flags = UInt32(MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS)
    /// MD4C counts the bytes of its blocks in an `int`, and takes up to sixty bytes of memory for one of the text.
    private static let mostBytes = 16 << 20

    private var builder: BodyBuilder
    /// Text of one look that has not been added yet.
    private var pending: [UInt8] = []
    /// How often each style is open: it may be nested in itself.
    private var depths = (bold: 0, italic: 0, strike: 0)
    private var isLinkOfImage = false
    /// Bytes of addresses that links may still have: one definition can be referred to as often as there is room.
    private var addressBudget: Int
    private var language: String?
    private var isInCell = false
    private var isCellEmpty = false
    /// MD4C fills each row of a table up to the width of its head, for up to 128 cells two bytes are enough.
    private var emptyCellsLeft: Int

    /// - Parameter text: of any length.
    static func body(_ text: String, isEmote: Bool, marks: InlineMarks) -> MessageBody {
        let count = text.utf8.count
        var reader = MarkdownReader(
            builder: BodyBuilder(marks: marks), addressBudget: max(100_000, count), emptyCellsLeft: 10_000 + count)
        guard count <= mostBytes, ContainerDepth.isBearable(text), reader.read(text) else {
            return MessageMarkup.body(plain: text, isEmote: isEmote)
        }
        return reader.builder.finished(isEmote: isEmote)
    }

    /// - Returns: false where it was given up.
    private mutating func read(_ text: String) -> Bool {
        var parser = MD_PARSER()
        parser.flags = Self.flags
        parser.enter_block = { type, detail, reader in reader!.reader.pointee.enter(type, detail) }
        parser.leave_block = { type, detail, reader in reader!.reader.pointee.leave(type, detail) }
        parser.enter_span = { type, detail, reader in reader!.reader.pointee.enter(type, detail) }
        parser.leave_span = { type, _, reader in reader!.reader.pointee.leave(type) }
        parser.text = { type, text, count, reader in
            reader!.reader.pointee.add(type, UnsafeRawBufferPointer(start: text, count: Int(count)))
        }
        var text = Self.prepared(text)
        return text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { bytes in
                withUnsafeMutablePointer(to: &self) { reader in
                    md_parse(bytes.baseAddress, MD_SIZE(bytes.count), &parser, reader) == 0
                }
            }
        }
    }

    /// CommonMark replaces U+0000, and MD4C hands some on in the text behind them (0.5.3). A mark of byte order is none.
    private static func prepared(_ text: String) -> String {
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        guard text.utf8.contains(0) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte == 0 { bytes += "\u{FFFD}".utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Blocks

    private mutating func enter(_ block: MD_BLOCKTYPE, _ detail: UnsafeMutableRawPointer?) -> CInt {
        flush()
        switch block {
        case MD_BLOCK_QUOTE: builder.open(.quote)
        case MD_BLOCK_UL: builder.open(.list(start: nil))
        case MD_BLOCK_OL:
            builder.open(.list(start: detail.map { Int($0.load(as: MD_BLOCK_OL_DETAIL.self).start) } ?? 1))
        case MD_BLOCK_LI:
            let item = detail?.load(as: MD_BLOCK_LI_DETAIL.self)
            let mark = item.flatMap { $0.is_task != 0 ? UInt8(bitPattern: $0.task_mark) : nil }
            builder.open(.item(isChecked: mark.map { $0 != 0x20 }))
        case MD_BLOCK_CODE:
            builder.endParagraph()
            let info = detail.map { Self.string($0.load(as: MD_BLOCK_CODE_DETAIL.self).info) } ?? ""
            language = info.isEmpty ? nil : CodeLanguage(info: info)?.name
        case MD_BLOCK_HR:
            builder.endParagraph()
            builder.add(.rule)
        case MD_BLOCK_H, MD_BLOCK_P, MD_BLOCK_HTML: builder.endParagraph()
        case MD_BLOCK_TABLE: builder.open(.table)
        case MD_BLOCK_TR: builder.open(.row)
        case MD_BLOCK_TH, MD_BLOCK_TD:
            let alignment = detail?.load(as: MD_BLOCK_TD_DETAIL.self).align
            builder.open(.cell(isHeader: block == MD_BLOCK_TH, BodyTable.Alignment(alignment ?? MD_ALIGN_DEFAULT)))
            (isInCell, isCellEmpty) = (true, true)
        default: break
        }
        return 0
    }

    private mutating func leave(_ block: MD_BLOCKTYPE, _ detail: UnsafeMutableRawPointer?) -> CInt {
        if block == MD_BLOCK_CODE {
            addCode()
            return 0
        }
        flush()
        switch block {
        case MD_BLOCK_QUOTE, MD_BLOCK_UL, MD_BLOCK_OL, MD_BLOCK_LI, MD_BLOCK_TABLE, MD_BLOCK_TR: builder.close()
        case MD_BLOCK_H: builder.endHeading(level: detail.map { Int($0.load(as: MD_BLOCK_H_DETAIL.self).level) } ?? 1)
        case MD_BLOCK_P, MD_BLOCK_HTML: builder.endParagraph()
        case MD_BLOCK_TH, MD_BLOCK_TD:
            builder.close()
            isInCell = false
            if isCellEmpty { emptyCellsLeft -= 1 }
            return emptyCellsLeft < 0 ? 1 : 0
        default: break
        }
        return 0
    }

    private mutating func addCode() {
        if pending.last == 0x0A { pending.removeLast() }
        if !pending.isEmpty { builder.add(.code(takePending(), language: language)) }
    }

    // MARK: Spans

    private mutating func enter(_ span: MD_SPANTYPE, _ detail: UnsafeMutableRawPointer?) -> CInt {
        flush()
        isCellEmpty = false
        switch span {
        case MD_SPAN_STRONG, MD_SPAN_EM, MD_SPAN_DEL: style(span, 1)
        case MD_SPAN_CODE: builder.look.style.insert(.code)
        case MD_SPAN_A: link(detail?.load(as: MD_SPAN_A_DETAIL.self).href)
        case MD_SPAN_IMG:
            // A picture from the web is a link to it: nothing is fetched from where a text says.
            isLinkOfImage = builder.look.link == nil
            if isLinkOfImage { link(detail?.load(as: MD_SPAN_IMG_DETAIL.self).src) }
        default: break
        }
        return 0
    }

    private mutating func leave(_ span: MD_SPANTYPE) -> CInt {
        flush()
        switch span {
        case MD_SPAN_STRONG, MD_SPAN_EM, MD_SPAN_DEL: style(span, -1)
        case MD_SPAN_CODE: builder.look.style.remove(.code)
        case MD_SPAN_A: link(nil)
        case MD_SPAN_IMG: if isLinkOfImage { link(nil) }
        default: break
        }
        return 0
    }

    private mutating func style(_ span: MD_SPANTYPE, _ change: Int) {
        switch span {
        case MD_SPAN_STRONG: set(.bold, \.bold, change)
        case MD_SPAN_EM: set(.italic, \.italic, change)
        default: set(.strike, \.strike, change)
        }
    }

    private mutating func set(
        _ style: InlineStyle, _ depth: WritableKeyPath<(bold: Int, italic: Int, strike: Int), Int>, _ change: Int
    ) {
        depths[keyPath: depth] += change
        if depths[keyPath: depth] > 0 { builder.look.style.insert(style) } else { builder.look.style.remove(style) }
    }

    private mutating func link(_ attribute: MD_ATTRIBUTE?) {
        builder.look.link = nil
        builder.look.mention = nil
        guard let attribute, addressBudget > 0 else { return }
        let address = Self.string(attribute)
        guard let target = LinkTarget(address) else { return }
        addressBudget -= address.utf8.count
        builder.look.link = BodyLink(unjudged: target)
        builder.look.mention = target.mention
    }

    // MARK: Text

    private mutating func add(_ type: MD_TEXTTYPE, _ text: UnsafeRawBufferPointer) -> CInt {
        isCellEmpty = false
        switch type {
        case MD_TEXT_BR, MD_TEXT_SOFTBR:
            flush()
            builder.breakLine()
        case MD_TEXT_CODE where isInCell: addCodeOfCell(text)
        default: Self.append(type, text, to: &pending)
        }
        return 0
    }

    /// `\|` is a bar in a cell even within code, which MD4C leaves as it is (GFM, example 200).
    private mutating func addCodeOfCell(_ text: UnsafeRawBufferPointer) {
        for (place, byte) in text.enumerated() {
            let isEscape = byte == UInt8(ascii: "\\") && place + 1 < text.count && text[place + 1] == UInt8(ascii: "|")
            if !isEscape { pending.append(byte) }
        }
    }

    private static func append(_ type: MD_TEXTTYPE, _ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        if type == MD_TEXT_ENTITY { bytes += MarkdownEntity.text(text) } else { bytes.append(contentsOf: text) }
    }

    private mutating func flush() {
        if !pending.isEmpty { builder.add(takePending()) }
    }

    private mutating func takePending() -> String {
        defer { pending.removeAll(keepingCapacity: true) }
        return String(decoding: pending, as: UTF8.self)
    }

    /// A text that stands outside the flow: an address, or what follows a fence.
    private static func string(_ attribute: MD_ATTRIBUTE) -> String {
        guard attribute.size > 0, let text = UnsafeRawPointer(attribute.text) else { return "" }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(attribute.size))
        var (part, start) = (0, 0)
        while start < attribute.size {
            let end = Int(attribute.substr_offsets[part + 1])
            append(
                attribute.substr_types[part], UnsafeRawBufferPointer(start: text + start, count: end - start),
                to: &bytes)
            (part, start) = (part + 1, end)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UnsafeMutableRawPointer {
    /// What MD4C hands on to each of its callbacks.
    fileprivate var reader: UnsafeMutablePointer<MarkdownReader> { assumingMemoryBound(to: MarkdownReader.self) }
}

extension BodyTable.Alignment {
    fileprivate init(_ alignment: MD_ALIGN) {
        switch alignment {
        case MD_ALIGN_CENTER: self = .center
        case MD_ALIGN_RIGHT: self = .end
        default: self = .start
        }
    }
}
