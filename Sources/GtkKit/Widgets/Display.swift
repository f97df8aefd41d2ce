public import CGtk

// Widgets that only display content.

/// Which part of a text is omitted if it does not fit.
public enum Ellipsize: Sendable {
    case none, start, middle, end

    var pango: PangoEllipsizeMode {
        switch self {
        case .none: PANGO_ELLIPSIZE_NONE
        case .start: PANGO_ELLIPSIZE_START
        case .middle: PANGO_ELLIPSIZE_MIDDLE
        case .end: PANGO_ELLIPSIZE_END
        }
    }
}

/// Where lines break.
public enum WrapMode: Sendable {
    case word, character, wordOrCharacter

    var pango: PangoWrapMode {
        switch self {
        case .word: PANGO_WRAP_WORD
        case .character: PANGO_WRAP_CHAR
        case .wordOrCharacter: PANGO_WRAP_WORD_CHAR
        }
    }
}

/// How the lines of a text are aligned relative to each other.
public enum Justification: Sendable {
    case left, right, center, fill

    var gtk: GtkJustification {
        switch self {
        case .left: GTK_JUSTIFY_LEFT
        case .right: GTK_JUSTIFY_RIGHT
        case .center: GTK_JUSTIFY_CENTER
        case .fill: GTK_JUSTIFY_FILL
        }
    }
}

public final class Label: Widget {
    public convenience init(_ text: String = "") {
        self.init(sinking: gtk_label_new(text))
    }

    public var text: String {
        get { String(cString: gtk_label_get_text(cast())) }
        set { gtk_label_set_text(cast(), newValue) }
    }

    /// Sets the text as Pango markup.
    public func setMarkup(_ markup: String) { gtk_label_set_markup(cast(), markup) }

    /// The text's alignment in a wider label, from 0 at the start to 1 at the end.
    public var xalign: Double {
        get { Double(gtk_label_get_xalign(cast())) }
        set { gtk_label_set_xalign(cast(), Float(newValue)) }
    }

    public var wrap: Bool {
        get { gtk_label_get_wrap(cast()) != 0 }
        set { gtk_label_set_wrap(cast(), newValue ? 1 : 0) }
    }

    public func setWrapMode(_ mode: WrapMode) { gtk_label_set_wrap_mode(cast(), mode.pango) }
    public func setEllipsize(_ mode: Ellipsize) { gtk_label_set_ellipsize(cast(), mode.pango) }
    public func setJustify(_ justification: Justification) { gtk_label_set_justify(cast(), justification.gtk) }

    /// The natural width in characters; -1 for that of the text.
    public var widthChars: Int {
        get { Int(gtk_label_get_width_chars(cast())) }
        set { gtk_label_set_width_chars(cast(), gint(clamping: newValue)) }
    }

    /// The greatest natural width in characters; -1 for none.
    public var maxWidthChars: Int {
        get { Int(gtk_label_get_max_width_chars(cast())) }
        set { gtk_label_set_max_width_chars(cast(), gint(clamping: newValue)) }
    }

    /// The number of lines after which a wrapped text is ellipsized; -1 for none.
    public var lines: Int {
        get { Int(gtk_label_get_lines(cast())) }
        set { gtk_label_set_lines(cast(), gint(clamping: newValue)) }
    }

    public var isSelectable: Bool {
        get { gtk_label_get_selectable(cast()) != 0 }
        set { gtk_label_set_selectable(cast(), newValue ? 1 : 0) }
    }

    /// Whether line breaks are shown as symbols instead of breaking the line.
    public var isSingleLine: Bool {
        get { gtk_label_get_single_line_mode(cast()) != 0 }
        set { gtk_label_set_single_line_mode(cast(), newValue ? 1 : 0) }
    }

    public func setAttributes(_ attributes: TextAttributes?) { gtk_label_set_attributes(cast(), attributes?.list) }
}

/// An icon.
public final class Image: Widget {
    public convenience init(icon: String? = nil) { self.init(sinking: gtk_image_new_from_icon_name(icon)) }

    public var iconName: String? {
        get { gtk_image_get_icon_name(cast()).map { String(cString: $0) } }
        set { gtk_image_set_from_icon_name(cast(), newValue) }
    }

    /// The icon's width and height; -1 for those of the style.
    public var pixelSize: Int {
        get { Int(gtk_image_get_pixel_size(cast())) }
        set { gtk_image_set_pixel_size(cast(), gint(clamping: newValue)) }
    }
}

/// An image that is scaled to the available space.
public final class Picture: Widget {
    public convenience init() { self.init(sinking: gtk_picture_new()) }

    /// Creates a picture that assistive technology presents as an image of its own.
    public convenience init(role: GtkAccessibleRole) {
        self.init(sinking: shim_object_new_with_role(gtk_picture_get_type(), role))
    }

    /// A GdkPaintable.
    public var paintable: Object? {
        get { gtk_picture_get_paintable(cast()).map { Object(borrowing: UnsafeMutableRawPointer($0)) } }
        set { gtk_picture_set_paintable(cast(), newValue?.cast()) }
    }

    /// Whether the picture can be smaller than its content.
    public var canShrink: Bool {
        get { gtk_picture_get_can_shrink(cast()) != 0 }
        set { gtk_picture_set_can_shrink(cast(), newValue ? 1 : 0) }
    }

    /// Crops the content instead of leaving a margin.
    public func fillArea() { gtk_picture_set_content_fit(cast(), GTK_CONTENT_FIT_COVER) }
}

public final class Spinner: Widget {
    public convenience init() { self.init(sinking: gtk_spinner_new()) }

    public var isSpinning: Bool {
        get { gtk_spinner_get_spinning(cast()) != 0 }
        set { gtk_spinner_set_spinning(cast(), newValue ? 1 : 0) }
    }
}

public final class ProgressBar: Widget {
    public convenience init() { self.init(sinking: gtk_progress_bar_new()) }

    /// From 0 to 1.
    public var fraction: Double {
        get { gtk_progress_bar_get_fraction(cast()) }
        set { gtk_progress_bar_set_fraction(cast(), newValue) }
    }
}

/// A round image of a person or a room, or initials or an icon if there is none.
public final class Avatar: Widget {
    public convenience init(size: Int) { self.init(sinking: adw_avatar_new(gint(clamping: size), nil, 1)) }

    /// The name from which the initials and the color are derived.
    public var text: String {
        get { adw_avatar_get_text(cast()).map { String(cString: $0) } ?? "" }
        set { adw_avatar_set_text(cast(), newValue) }
    }

    public var showsInitials: Bool {
        get { adw_avatar_get_show_initials(cast()) != 0 }
        set { adw_avatar_set_show_initials(cast(), newValue ? 1 : 0) }
    }

    public var iconName: String? {
        get { adw_avatar_get_icon_name(cast()).map { String(cString: $0) } }
        set { adw_avatar_set_icon_name(cast(), newValue) }
    }

    /// A GdkPaintable.
    public var image: Object? {
        get { adw_avatar_get_custom_image(cast()).map { Object(borrowing: UnsafeMutableRawPointer($0)) } }
        set { adw_avatar_set_custom_image(cast(), newValue?.cast()) }
    }
}

/// The window that lists the keyboard shortcuts.
public final class ShortcutsWindow: TopLevel {
    /// Changes the keys of a shortcut.
    /// - Parameter accelerators: Separated by spaces.
    public func setKeys(_ accelerators: String, of shortcut: Widget) {
        let title = shortcut.text("title")
        // The window has copied each shortcut for its search.
        for shortcut in Self.shortcuts(in: self) where shortcut.text("title") == title {
            shortcut.setProperty("accelerator", accelerators)
        }
    }

    private static func shortcuts(in widget: Widget) -> [Widget] {
        widget.children.flatMap {
            $0.isInstance(of: gtk_shortcuts_shortcut_get_type()) ? [$0] : shortcuts(in: $0)
        }
    }
}
