import CGtk
import GtkKit

/// GObject properties, for `.ui` files.
extension TimelineList {
    private enum Property: guint {
        case alignment = 5
        case inverted, followsEnd, maximumRowWidth
    }

    static func installProperties(_ widgetClass: UnsafeMutablePointer<GtkWidgetClass>) {
        let flags = shim_param_readwrite
        let object = UnsafeMutableRawPointer(widgetClass).assumingMemoryBound(to: GObjectClass.self)
        func install(_ property: Property, _ specification: UnsafeMutablePointer<GParamSpec>?) {
            g_object_class_install_property(object, property.rawValue, specification)
        }
        install(
            .alignment,
            g_param_spec_enum(
                "alignment", nil, nil, gtk_align_get_type(), gint(GTK_ALIGN_END.rawValue), flags))
        install(.inverted, g_param_spec_boolean("inverted", nil, nil, 1, flags))
        install(.followsEnd, g_param_spec_boolean("follows-end", nil, nil, 1, flags))
        install(.maximumRowWidth, g_param_spec_int("maximum-row-width", nil, nil, 0, gint.max, 0, flags))
    }

    func applyProperty(_ id: guint, _ value: UnsafePointer<GValue>) {
        switch Property(rawValue: id) {
        case .alignment: alignment = g_value_get_enum(value) == gint(GTK_ALIGN_START.rawValue) ? .start : .end
        case .inverted: isInverted = g_value_get_boolean(value) != 0
        case .followsEnd: followsEnd = g_value_get_boolean(value) != 0
        case .maximumRowWidth: maximumRowWidth = Int(g_value_get_int(value))
        case nil: break
        }
    }

    func readProperty(_ id: guint, _ value: UnsafeMutablePointer<GValue>) {
        switch Property(rawValue: id) {
        case .alignment:
            g_value_set_enum(value, gint((alignment == .start ? GTK_ALIGN_START : GTK_ALIGN_END).rawValue))
        case .inverted: g_value_set_boolean(value, isInverted ? 1 : 0)
        case .followsEnd: g_value_set_boolean(value, followsEnd ? 1 : 0)
        case .maximumRowWidth: g_value_set_int(value, gint(maximumRowWidth))
        case nil: break
        }
    }
}
