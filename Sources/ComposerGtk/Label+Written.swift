import CGtk
package import Composer
package import GtkKit

extension Label {
    /// Shows plain text, with a pill's background behind mentions.
    package func show(_ words: WrittenText) {
        text = words.source.replacing("\0", with: "\u{FFFD}")
        let attributes = pango_attr_list_new()
        defer { pango_attr_list_unref(attributes) }
        var accent = GdkRGBA(red: 0.2, green: 0.5, blue: 0.9, alpha: 1)
        _ = shim_named_color(pointer, "accent_bg_color", &accent)
        for mark in words.marks where mark.mention != nil {
            let range = words.bytes(of: mark.range)
            let components = [accent.red, accent.green, accent.blue].map { guint16($0 * 65535) }
            for attribute in [
                pango_attr_weight_new(PANGO_WEIGHT_SEMIBOLD),
                pango_attr_background_new(components[0], components[1], components[2]),
                pango_attr_background_alpha_new(guint16(0.16 * 65535)),
            ] {
                attribute?.pointee.start_index = guint(range.lowerBound)
                attribute?.pointee.end_index = guint(range.upperBound)
                pango_attr_list_insert(attributes, attribute)
            }
        }
        gtk_label_set_attributes(cast(), attributes)
    }
}

extension WrittenText {
    /// The range in UTF-8 offsets, as Pango needs it.
    fileprivate func bytes(of range: TextRange) -> Range<Int> {
        func byte(_ offset: Int) -> Int {
            source.utf8.distance(from: source.startIndex, to: source.utf16.index(source.startIndex, offsetBy: offset))
        }
        return byte(range.location)..<byte(range.end)
    }

    /// The first line, truncated to `limit` characters.
    func firstLine(_ limit: Int) -> WrittenText {
        let line = source.prefix { !$0.isNewline }.prefix(limit)
        return ComposerDocument(self).written(in: TextRange(location: 0, length: line.utf16.count))
    }
}
