import CGtk
package import Composer
package import GtkKit

extension Label {
    /// Shows plain text, with a pill's background behind mentions.
    package func show(_ words: WrittenText) {
        text = words.source.replacing("\0", with: "\u{FFFD}")
        let attributes = TextAttributes()
        let accent = namedColor("accent_bg_color") ?? GdkRGBA(red: 0.2, green: 0.5, blue: 0.9, alpha: 1)
        let (red, green, blue) = (accent.red.sixteenBits, accent.green.sixteenBits, accent.blue.sixteenBits)
        for mark in words.marks where mark.mention != nil {
            let range = words.bytes(of: mark.range)
            attributes.add(.semibold, to: range)
            attributes.add(.background(red: red, green: green, blue: blue), to: range)
            attributes.add(.backgroundAlpha(UInt16(0.16 * 65535)), to: range)
        }
        setAttributes(attributes)
    }
}

extension Float {
    /// A component of a color, as Pango counts it.
    fileprivate var sixteenBits: UInt16 { UInt16(self * 65535) }
}

extension WrittenText {
    /// The range in UTF-8 offsets, as Pango needs it.
    fileprivate func bytes(of range: TextRange) -> Range<Int> {
        func byte(_ offset: Int) -> Int {
            source.utf8.distance(from: source.startIndex, to: source.utf16.index(source.startIndex, offsetBy: offset))
        }
        return byte(range.location)..<byte(range.end)
    }
}
