public import CGtk

/// A widget class that scrolls its own content (GtkScrollable), for use in a GtkScrolledWindow.
open class ScrollableImplementation: WidgetImplementation {
    private enum Property: guint {
        case horizontalAdjustment = 1
        case verticalAdjustment, horizontalPolicy, verticalPolicy
    }

    /// The current vertical adjustment.
    public private(set) final var verticalAdjustment: Adjustment?
    private var horizontalAdjustment: Adjustment?
    private var valueChanged: SignalConnection?
    private var verticalPolicy = GTK_SCROLL_MINIMUM
    private var horizontalPolicy = GTK_SCROLL_MINIMUM
    private var isConfiguring = false

    /// Called when the vertical value changes, except by ``configure(value:lower:upper:pageSize:)``.
    open func scrolled(to value: Double) {}

    override class var firstPropertyID: guint { 5 }

    /// Sets all fields of the vertical adjustment at once, without calling ``scrolled(to:)``.
    public final func configure(value: Double, lower: Double = 0, upper: Double, pageSize: Double) {
        guard let verticalAdjustment else { return }
        isConfiguring = true
        defer { isConfiguring = false }
        gtk_adjustment_configure(
            verticalAdjustment.cast(), value, lower, upper, pageSize * 0.1, pageSize * 0.9, pageSize)
    }

    open override func dispose() {
        valueChanged?.disconnect()
        valueChanged = nil
        verticalAdjustment = nil
        horizontalAdjustment = nil
        super.dispose()
    }

    open override class func registered(_ type: GType) {
        var info = GInterfaceInfo(interface_init: nil, interface_finalize: nil, interface_data: nil)
        g_type_add_interface_static(type, gtk_scrollable_get_type(), &info)
    }

    open override class func initialize(_ widgetClass: UnsafeMutablePointer<GtkWidgetClass>) {
        let objectClass = UnsafeMutableRawPointer(widgetClass).assumingMemoryBound(to: GObjectClass.self)
        objectClass.pointee.set_property = { object, id, value, _ in
            nonisolated(unsafe) let (object, value) = (object, value)
            MainActor.assumeIsolated { ScrollableImplementation.at(object)?.set(id, value) }
        }
        objectClass.pointee.get_property = { object, id, value, _ in
            nonisolated(unsafe) let (object, value) = (object, value)
            MainActor.assumeIsolated { ScrollableImplementation.at(object)?.get(id, value) }
        }
        g_object_class_override_property(objectClass, Property.horizontalAdjustment.rawValue, "hadjustment")
        g_object_class_override_property(objectClass, Property.verticalAdjustment.rawValue, "vadjustment")
        g_object_class_override_property(objectClass, Property.horizontalPolicy.rawValue, "hscroll-policy")
        g_object_class_override_property(objectClass, Property.verticalPolicy.rawValue, "vscroll-policy")
    }

    private static func at(_ object: UnsafeMutablePointer<GObject>?) -> ScrollableImplementation? {
        WidgetTypes.implementation(of: object) as? ScrollableImplementation
    }

    /// The subclass's own property with this ID.
    private func ownProperty(_ id: guint) -> WidgetProperty {
        Swift.type(of: self).properties[Int(id - Self.firstPropertyID)]
    }

    private func set(_ id: guint, _ value: UnsafePointer<GValue>?) {
        guard let value else { return }
        guard let property = Property(rawValue: id) else { return ownProperty(id).set(self, value) }
        switch property {
        case .horizontalAdjustment: horizontalAdjustment = adjustment(value)
        case .verticalAdjustment: replaceVerticalAdjustment(adjustment(value))
        case .horizontalPolicy:
            horizontalPolicy = GtkScrollablePolicy(rawValue: GtkScrollablePolicy.RawValue(g_value_get_enum(value)))
        case .verticalPolicy:
            verticalPolicy = GtkScrollablePolicy(rawValue: GtkScrollablePolicy.RawValue(g_value_get_enum(value)))
        }
    }

    private func get(_ id: guint, _ value: UnsafeMutablePointer<GValue>?) {
        guard let value else { return }
        guard let property = Property(rawValue: id) else { return ownProperty(id).get(self, value) }
        switch property {
        case .horizontalAdjustment: g_value_set_object(value, horizontalAdjustment?.pointer)
        case .verticalAdjustment: g_value_set_object(value, verticalAdjustment?.pointer)
        case .horizontalPolicy: g_value_set_enum(value, gint(horizontalPolicy.rawValue))
        case .verticalPolicy: g_value_set_enum(value, gint(verticalPolicy.rawValue))
        }
    }

    private func adjustment(_ value: UnsafePointer<GValue>) -> Adjustment? {
        g_value_get_object(value).map { Adjustment(borrowing: $0) }
    }

    private func replaceVerticalAdjustment(_ adjustment: Adjustment?) {
        guard adjustment?.pointer != verticalAdjustment?.pointer else { return }
        valueChanged?.disconnect()
        valueChanged = nil
        verticalAdjustment = adjustment
        valueChanged = adjustment?.connect("value-changed") { [weak self] _ in
            guard let self, !self.isConfiguring, let value = self.verticalAdjustment?.value else { return }
            self.scrolled(to: value)
        }
        gtk_widget_queue_allocate(cast())
    }
}
