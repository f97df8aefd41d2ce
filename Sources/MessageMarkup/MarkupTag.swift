/// The elements of HTML that a message may have, and what is known of each.
///
/// The list is that of the Matrix specification (client-server API, `m.room.message` in HTML); `mx-reply` is on it to
/// be dropped with all that it holds.
enum MarkupTag: String, CaseIterable {
    case del, h1, h2, h3, h4, h5, h6, blockquote, p, a, ul, ol, sup, sub, li, b, i, u, strong, em, s, code, hr, br,
        div, table, thead, tbody, tr, th, td, caption, pre, span, img, details, summary
    case reply = "mx-reply"

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

    /// - Parameter name: lowercased.
    init?(name: String) {
        guard let tag = Self.byName[name] else { return nil }
        self = tag
    }

    /// The attributes that matter on this element.
    var attributes: [String] {
        switch self {
        case .span: ["data-mx-bg-color", "data-mx-color", "data-mx-spoiler"]
        case .a: ["href"]
        case .img: ["width", "height", "alt", "title", "src"]
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
        case .a, .b, .i, .u, .s, .em, .strong, .code: true
        default: false
        }
    }

    /// Open elements that this one ends when it begins.
    var endsOnBegin: Set<MarkupTag> {
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
    var scope: Set<MarkupTag> {
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
}
