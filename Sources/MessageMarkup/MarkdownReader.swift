import CMD4C
import ChatCore

/// Parses Markdown into a ``MessageBody``: CommonMark 0.31.2 with tables, strikethrough and task lists, by MD4C.
///
/// As in other chat clients, a soft line break is displayed as a line break, and HTML as text. HTML is still
/// recognized, so Markdown inside tags is not interpreted. Links in plain text are found by ``AddressFinder``, as
/// elsewhere, and not by MD4C's extensions.
struct MarkdownParser {
    private static let flags = UInt32(MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS)
    /// MD4C counts the bytes of its blocks in an `int` and needs up to 60 bytes of memory per byte of text.
    private static let maxBytes = 16 << 20

    private let source: MarkdownSource
    private var builder: BodyBuilder
    /// The text that MD4C parses, for computing offsets from its pointers.
    private var base = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The attributes from style marks at the current position, and the index of their run.
    private var overlay = InlineAttributes()
    private var attributeRunIndex = 0
    /// The offset after the last text.
    private var lastEnd = 0
    private var isInCode = false
    /// Text of the current formatting that is not added yet.
    private var pending: [UInt8] = []
    /// The nesting depth of each style.
    private var depths = (bold: 0, italic: 0, strike: 0)
    private var isLinkOfImage = false
    /// The remaining bytes of link destinations: without a limit, many references to one long definition would make the
    /// output quadratic.
    private var addressBudget: Int
    private var language: String?
    private var isInCell = false
    private var isCellEmpty = false
    /// The remaining number of empty cells. MD4C fills each row to the number of columns, so two bytes of text may
    /// cause up to 128 cells.
    private var remainingEmptyCells: Int

    /// - Returns: `nil` if the text exceeds a limit, which messages by humans do not.
    static func body(_ source: MarkdownSource, isEmote: Bool) -> MessageBody? {
        let count = source.text.utf8.count
        let annotator = InlineAnnotator(readsSpoilers: true, bar: source.bar)
        return body(source, count, isEmote: isEmote, annotator: annotator)
    }

    /// Parses Markdown in which members' names after an `@` become mentions.
    static func body(_ source: MarkdownSource, names: MentionNames, isEmote: Bool) -> MessageBody? {
        let annotator = InlineAnnotator(readsSpoilers: true, names: names, bar: source.bar)
        return body(source, source.text.utf8.count, isEmote: isEmote, annotator: annotator)
    }

    private static func body(
        _ source: MarkdownSource, _ count: Int, isEmote: Bool, annotator: InlineAnnotator
    ) -> MessageBody? {
        var parser = MarkdownParser(
            source: source, builder: BodyBuilder(annotator: annotator), addressBudget: max(100_000, count),
            remainingEmptyCells: 10_000 + count)
        guard count <= maxBytes, ContainerDepth.isBearable(source.text), parser.read() else { return nil }
        return parser.builder.finished(isEmote: isEmote)
    }

    /// - Returns: `false` if parsing was aborted.
    private mutating func read() -> Bool {
        var parser = MD_PARSER()
        parser.flags = Self.flags
        parser.enter_block = { type, detail, userData in userData!.markdownParser.pointee.enter(type, detail) }
        parser.leave_block = { type, detail, userData in userData!.markdownParser.pointee.leave(type, detail) }
        parser.enter_span = { type, detail, userData in userData!.markdownParser.pointee.enter(type, detail) }
        parser.leave_span = { type, _, userData in userData!.markdownParser.pointee.leave(type) }
        parser.text = { type, text, count, userData in
            userData!.markdownParser.pointee.add(type, UnsafeRawBufferPointer(start: text, count: Int(count)))
        }
        var text = source.text
        return text.withUTF8 { bytes in
            base = UnsafeRawBufferPointer(bytes)
            return bytes.withMemoryRebound(to: CChar.self) { bytes in
                withUnsafeMutablePointer(to: &self) { pointer in
                    md_parse(bytes.baseAddress, MD_SIZE(bytes.count), &parser, pointer) == 0
                }
            }
        }
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
            let taskMark = item.flatMap { $0.is_task != 0 ? UInt8(bitPattern: $0.task_mark) : nil }
            builder.open(.item(isChecked: taskMark.map { $0 != 0x20 }))
        case MD_BLOCK_CODE:
            builder.endParagraph()
            let info = detail.map { string($0.load(as: MD_BLOCK_CODE_DETAIL.self).info) } ?? ""
            language = info.isEmpty ? nil : CodeLanguage(info: info)?.name
            isInCode = true
        case MD_BLOCK_HR:
            builder.endParagraph()
            builder.add(.rule)
        case MD_BLOCK_H, MD_BLOCK_P, MD_BLOCK_HTML: builder.endParagraph()
        case MD_BLOCK_TABLE: builder.open(.table)
        case MD_BLOCK_TR: builder.open(.row)
        case MD_BLOCK_TH, MD_BLOCK_TD:
            builder.endParagraph()
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
            let alignment = detail?.load(as: MD_BLOCK_TD_DETAIL.self).align
            builder.endCell(isHeader: block == MD_BLOCK_TH, BodyTable.Alignment(alignment ?? MD_ALIGN_DEFAULT))
            isInCell = false
            if isCellEmpty { remainingEmptyCells -= 1 }
            return remainingEmptyCells < 0 ? 1 : 0
        default: break
        }
        return 0
    }

    private mutating func addCode() {
        isInCode = false
        if pending.last == 0x0A { pending.removeLast() }
        if !pending.isEmpty { builder.add(.code(drainPending(), language: language)) }
    }

    // MARK: Spans

    private mutating func enter(_ span: MD_SPANTYPE, _ detail: UnsafeMutableRawPointer?) -> CInt {
        flush()
        isCellEmpty = false
        switch span {
        case MD_SPAN_STRONG, MD_SPAN_EM, MD_SPAN_DEL: style(span, 1)
        case MD_SPAN_CODE: builder.runTemplate.style.insert(.code)
        case MD_SPAN_A: link(detail?.load(as: MD_SPAN_A_DETAIL.self).href)
        case MD_SPAN_IMG:
            // An image becomes a link: nothing is loaded from addresses in a text.
            isLinkOfImage = builder.runTemplate.link == nil
            if isLinkOfImage { link(detail?.load(as: MD_SPAN_IMG_DETAIL.self).src) }
        default: break
        }
        return 0
    }

    private mutating func leave(_ span: MD_SPANTYPE) -> CInt {
        flush()
        switch span {
        case MD_SPAN_STRONG, MD_SPAN_EM, MD_SPAN_DEL: style(span, -1)
        case MD_SPAN_CODE: builder.runTemplate.style.remove(.code)
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
        if depths[keyPath: depth] > 0 {
            builder.runTemplate.style.insert(style)
        } else {
            builder.runTemplate.style.remove(style)
        }
    }

    private mutating func link(_ attribute: MD_ATTRIBUTE?) {
        builder.runTemplate.link = nil
        builder.runTemplate.mention = nil
        guard let attribute, addressBudget > 0 else { return }
        let address = string(attribute)
        guard let target = LinkTarget(address) else { return }
        addressBudget -= address.utf8.count
        builder.runTemplate.link = BodyLink(unjudged: target)
        builder.runTemplate.mention = target.mention
    }

    // MARK: Text

    private mutating func add(_ type: MD_TEXTTYPE, _ text: UnsafeRawBufferPointer) -> CInt {
        isCellEmpty = false
        switch type {
        case MD_TEXT_BR, MD_TEXT_SOFTBR:
            // A line break has the attributes at the end of the text before it.
            moveOverlay(to: lastEnd)
            flush()
            let runTemplate = builder.runTemplate
            builder.runTemplate = overlay.applied(to: runTemplate)
            builder.breakLine()
            builder.runTemplate = runTemplate
        case MD_TEXT_ENTITY:
            if let offset = offset(of: text) { moveOverlay(to: offset) }
            appendEntity(text)
        case MD_TEXT_NORMAL where isEscapedBar(text):
            if let offset = offset(of: text) { moveOverlay(to: offset) }
            appendBar()
        default: addText(text, isCodeOfCell: type == MD_TEXT_CODE && isInCell)
        }
        return 0
    }

    /// Returns the offset of a text in the source, or `nil` for text that MD4C generated.
    private func offset(of text: UnsafeRawBufferPointer) -> Int? {
        guard let start = text.baseAddress, let base = base.baseAddress, start >= base else { return nil }
        let offset = start - base
        return offset + text.count <= self.base.count ? offset : nil
    }

    private mutating func addText(_ text: UnsafeRawBufferPointer, isCodeOfCell: Bool) {
        guard !source.mentions.isEmpty || !source.attributeRuns.isEmpty, let offset = offset(of: text) else {
            return append(text[...], isCodeOfCell)
        }
        defer { lastEnd = offset + text.count }
        var (start, position) = (0, 0)
        while let sentinel = source.sentinel.first, position < text.count {
            guard text[position] == sentinel, let (number, end) = source.mention(text, at: position) else {
                position += 1
                continue
            }
            append(text[start..<position], at: offset + start, isCodeOfCell)
            addMention(number)
            (start, position) = (end, end)
        }
        append(text[start...], at: offset + start, isCodeOfCell)
    }

    /// Appends text that may span several attribute runs.
    private mutating func append(_ text: Slice<UnsafeRawBufferPointer>, at offset: Int, _ isCodeOfCell: Bool) {
        var (text, offset) = (text, offset)
        while !text.isEmpty {
            moveOverlay(to: offset)
            let next =
                attributeRunIndex + 1 < source.attributeRuns.count
                ? source.attributeRuns[attributeRunIndex + 1].start : .max
            let segment = text.prefix(max(1, next - offset))
            append(segment, isCodeOfCell)
            offset += segment.count
            text = text.dropFirst(segment.count)
        }
    }

    private mutating func append(_ text: Slice<UnsafeRawBufferPointer>, _ isCodeOfCell: Bool) {
        if isCodeOfCell { appendCodeOfCell(text) } else { pending.append(contentsOf: text) }
    }

    /// In a cell, `\|` is a bar even in code, where MD4C leaves the backslash (GFM, example 200).
    private mutating func appendCodeOfCell(_ text: Slice<UnsafeRawBufferPointer>) {
        for index in text.indices {
            let isEscape =
                text[index] == UInt8(ascii: "\\") && index + 1 < text.endIndex && text[index + 1] == UInt8(ascii: "|")
            if !isEscape { pending.append(text[index]) }
        }
    }

    /// A character reference is never markup, so a bar from one is a placeholder.
    private mutating func appendEntity(_ text: UnsafeRawBufferPointer) {
        let bytes = MarkdownEntity.text(text)
        if bytes == [UInt8(ascii: "|")] { appendBar() } else { pending += bytes }
    }

    private mutating func appendBar() {
        if let bar = source.bar, !isInCode {
            pending += String(Character(bar)).utf8
        } else {
            pending.append(UInt8(ascii: "|"))
        }
    }

    /// Whether an odd number of backslashes precedes the bar.
    private func isEscapedBar(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count == 1, text[0] == UInt8(ascii: "|"), let offset = offset(of: text) else { return false }
        let backslashes = base[..<offset].reversed().prefix { $0 == UInt8(ascii: "\\") }
        return !backslashes.count.isMultiple(of: 2)
    }

    /// Switches to the attributes at an offset.
    private mutating func moveOverlay(to offset: Int) {
        guard !source.attributeRuns.isEmpty, !isInCode else { return }
        attributeRunIndex = source.attributeRunIndex(at: offset, hint: attributeRunIndex)
        let attributes = source.attributeRuns[attributeRunIndex].attributes
        guard attributes != overlay else { return }
        flush()
        overlay = attributes
    }

    /// Adds a mention; in a code block it becomes plain text.
    private mutating func addMention(_ number: Int) {
        guard let segments = source.segments else { return }
        guard !isInCode else {
            for segment in source.mentions[number] { pending += segment.text.utf8 }
            return
        }
        flush()
        let runTemplate = builder.runTemplate
        for segment in source.mentions[number] {
            builder.runTemplate = segments.run(segment, in: runTemplate)
            builder.add(segment.text)
        }
        builder.runTemplate = runTemplate
    }

    private mutating func flush() {
        guard !pending.isEmpty else { return }
        guard !overlay.isPlain else { return builder.add(drainPending()) }
        let runTemplate = builder.runTemplate
        builder.runTemplate = overlay.applied(to: runTemplate)
        builder.add(drainPending())
        builder.runTemplate = runTemplate
    }

    private mutating func drainPending() -> String {
        defer { pending.removeAll(keepingCapacity: true) }
        return String(decoding: pending, as: UTF8.self)
    }

    /// Returns the text of an MD4C attribute, such as a link destination or an info string.
    private func string(_ attribute: MD_ATTRIBUTE) -> String {
        guard attribute.size > 0, let text = UnsafeRawPointer(attribute.text) else { return "" }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(attribute.size))
        var (substringIndex, start) = (0, 0)
        while start < attribute.size {
            let end = Int(attribute.substr_offsets[substringIndex + 1])
            let substring = UnsafeRawBufferPointer(start: text + start, count: end - start)
            if attribute.substr_types[substringIndex] == MD_TEXT_ENTITY {
                bytes += MarkdownEntity.text(substring)
            } else {
                appendWithNames(substring, to: &bytes)
            }
            (substringIndex, start) = (substringIndex + 1, end)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func appendWithNames(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        guard !source.mentions.isEmpty else { return bytes.append(contentsOf: text) }
        var position = 0
        while position < text.count {
            if let (number, end) = source.mention(text, at: position) {
                for segment in source.mentions[number] { bytes += segment.text.utf8 }
                position = end
            } else {
                bytes.append(text[position])
                position += 1
            }
        }
    }
}

extension UnsafeMutableRawPointer {
    /// The parser, from the user data that MD4C passes to its callbacks.
    fileprivate var markdownParser: UnsafeMutablePointer<MarkdownParser> {
        assumingMemoryBound(to: MarkdownParser.self)
    }
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
