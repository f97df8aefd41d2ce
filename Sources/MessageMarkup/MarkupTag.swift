/// The HTML elements that are allowed in messages.
///
/// The list is that of the Matrix specification (client-server API, `m.room.message` in HTML), plus `font` and
/// `strike`, which were on it in earlier versions. `mx-reply` is recognized in order to be dropped with its content.
enum MarkupTag: UInt8, CaseIterable {
    case del, h1, h2, h3, h4, h5, h6, blockquote, p, a, ul, ol, sup, sub, li, b, i, u, strong, em, s, code, hr, br,
        div, table, thead, tbody, tr, th, td, caption, pre, span, img, details, summary, font, strike, reply

    private static let byName = TagTable(allCases.map { (TagName($0.name), $0) })
    private static let facts = allCases.map(TagFacts.init)

    init?(name: TagName) {
        guard let tag = Self.byName[name] else { return nil }
        self = tag
    }

    var name: String { self == .reply ? "mx-reply" : "\(self)" }

    /// The allowed attributes of the element.
    var attributes: [String] {
        switch self {
        case .span: ["data-mx-bg-color", "data-mx-color", "data-mx-spoiler"]
        case .a: ["href"]
        case .font: ["data-mx-bg-color", "data-mx-color", "color"]
        case .img: ["width", "height", "alt", "title", "src", "data-mx-emoticon"]
        case .ol: ["start"]
        case .code: ["class"]
        default: []
        }
    }

    /// Whether it is a void element.
    var isVoid: Bool { self == .br || self == .hr || self == .img }

    /// Whether it is an active formatting element, which the parser reopens after a block that ended first.
    var isFormatting: Bool {
        switch self {
        case .a, .b, .i, .u, .s, .em, .strong, .code, .font, .strike: true
        default: false
        }
    }

    /// Open elements that its start tag ends implicitly.
    var endsOnStart: TagSet {
        switch self {
        case .li: [.li, .p]
        case .td, .th: [.td, .th]
        case .tr: [.td, .th, .tr, .caption]
        case .thead, .tbody: [.td, .th, .tr, .thead, .tbody, .caption]
        case .a: [.a]
        case .p, .h1, .h2, .h3, .h4, .h5, .h6, .blockquote, .ul, .ol, .div, .table, .pre, .details, .summary: [.p]
        default: []
        }
    }

    /// Elements that bound the search for an open element to end.
    var scope: TagSet {
        switch self {
        case .li: [.ul, .ol, .table, .td, .th, .caption]
        case .td, .th, .tr, .thead, .tbody, .caption, .table: [.table]
        default: [.td, .th, .caption]
        }
    }

    /// Whether formatting that began inside ends with the element instead of continuing after it.
    var holdsFormatting: Bool {
        switch self {
        case .td, .th, .caption, .tr, .thead, .tbody, .table, .reply: true
        default: false
        }
    }

    /// The cached facts, which ``TagLimiter`` reads several times for each tag.
    var facts: TagFacts { Self.facts[Int(rawValue)] }
}

/// The properties of an element that ``TagLimiter`` uses.
final class TagFacts: Sendable {
    let attributes: [String]
    let endsOnStart: TagSet
    let scope: TagSet
    /// `<name`
    let start: [UInt8]
    /// `</name>`
    let end: [UInt8]

    init(_ tag: MarkupTag) {
        attributes = tag.attributes
        endsOnStart = tag.endsOnStart
        scope = tag.scope
        start = Array("<\(tag.name)".utf8)
        end = Array("</\(tag.name)>".utf8)
    }
}

/// A set of elements as a bit mask.
struct TagSet: ExpressibleByArrayLiteral {
    private var bits: UInt64 = 0

    init(arrayLiteral elements: MarkupTag...) {
        for element in elements { bits |= 1 << UInt64(element.rawValue) }
    }

    var isEmpty: Bool { bits == 0 }

    func contains(_ tag: MarkupTag) -> Bool { bits & 1 << UInt64(tag.rawValue) != 0 }
}
