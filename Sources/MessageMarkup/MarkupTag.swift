/// The elements of HTML that a message may have, and what is known of each.
///
/// The list is that of the Matrix specification (client-server API, `m.room.message` in HTML); `font` and `strike` were on
/// it, and are read; `mx-reply` is on it to be dropped with all that it holds.
enum MarkupTag: UInt8, CaseIterable {
    case del, h1, h2, h3, h4, h5, h6, blockquote, p, a, ul, ol, sup, sub, li, b, i, u, strong, em, s, code, hr, br,
        div, table, thead, tbody, tr, th, td, caption, pre, span, img, details, summary, font, strike, reply

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { (TagName($0.name), $0) })
    private static let facts = allCases.map(TagFacts.init)

    init?(name: TagName) {
        guard let tag = Self.byName[name] else { return nil }
        self = tag
    }

    var name: String { self == .reply ? "mx-reply" : "\(self)" }

    /// The attributes that matter on this element.
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

    /// Whether it has no content and no end.
    var isVoid: Bool { self == .br || self == .hr || self == .img }

    /// Elements that go on in the next block when the one they began in ends first ("active formatting elements").
    var isFormatting: Bool {
        switch self {
        case .a, .b, .i, .u, .s, .em, .strong, .code, .font, .strike: true
        default: false
        }
    }

    /// Open elements that this one ends when it begins.
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

    /// Open elements past which this one ends none.
    var scope: TagSet {
        switch self {
        case .li: [.ul, .ol, .table, .td, .th, .caption]
        case .td, .th, .tr, .thead, .tbody, .caption, .table: [.table]
        default: [.td, .th, .caption]
        }
    }

    /// Whether formatting that began inside ends with it: it is a world of its own.
    var holdsFormatting: Bool {
        switch self {
        case .td, .th, .caption, .tr, .thead, .tbody, .table, .reply: true
        default: false
        }
    }

    /// The same, made once: of a tag the limiter asks for some of it at each turn.
    var facts: TagFacts { Self.facts[Int(rawValue)] }
}

/// What ``TagLimiter`` asks of an element.
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

/// Some of the elements, as one number.
struct TagSet: ExpressibleByArrayLiteral {
    private var bits: UInt64 = 0

    init(arrayLiteral elements: MarkupTag...) {
        for element in elements { bits |= 1 << UInt64(element.rawValue) }
    }

    var isEmpty: Bool { bits == 0 }

    func contains(_ tag: MarkupTag) -> Bool { bits & 1 << UInt64(tag.rawValue) != 0 }
}
