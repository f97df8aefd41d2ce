import CGtk

/// A GObject property of a custom widget class, usable from `.ui` files, bindings and the GTK inspector.
public struct WidgetProperty {
    public let name: String
    let kind: Kind
    let get: @MainActor (WidgetImplementation, UnsafeMutablePointer<GValue>) -> Void
    let set: @MainActor (WidgetImplementation, UnsafePointer<GValue>) -> Void

    enum Kind {
        case text(String)
        case flag(Bool)
        case number(Int, ClosedRange<Int>)
        case alignment(Alignment)
    }

    public static func text<W: WidgetImplementation>(
        _ name: String, default initial: String = "", _ path: ReferenceWritableKeyPath<W, String>
    ) -> WidgetProperty {
        WidgetProperty(
            name: name, kind: .text(initial),
            get: { widget, value in if let widget = widget as? W { g_value_set_string(value, widget[keyPath: path]) } },
            set: { widget, value in
                let text = g_value_get_string(value).map { String(cString: $0) } ?? ""
                if let widget = widget as? W { widget[keyPath: path] = text }
            })
    }

    public static func flag<W: WidgetImplementation>(
        _ name: String, default initial: Bool, _ path: ReferenceWritableKeyPath<W, Bool>
    ) -> WidgetProperty {
        WidgetProperty(
            name: name, kind: .flag(initial),
            get: { widget, value in
                if let widget = widget as? W { g_value_set_boolean(value, widget[keyPath: path] ? 1 : 0) }
            },
            set: { widget, value in
                if let widget = widget as? W { widget[keyPath: path] = g_value_get_boolean(value) != 0 }
            })
    }

    public static func number<W: WidgetImplementation>(
        _ name: String, default initial: Int, in range: ClosedRange<Int>, _ path: ReferenceWritableKeyPath<W, Int>
    ) -> WidgetProperty {
        WidgetProperty(
            name: name, kind: .number(initial, range),
            get: { widget, value in
                if let widget = widget as? W { g_value_set_int(value, gint(clamping: widget[keyPath: path])) }
            },
            set: { widget, value in
                if let widget = widget as? W { widget[keyPath: path] = Int(g_value_get_int(value)) }
            })
    }

    public static func alignment<W: WidgetImplementation>(
        _ name: String, default initial: Alignment, _ path: ReferenceWritableKeyPath<W, Alignment>
    ) -> WidgetProperty {
        WidgetProperty(
            name: name, kind: .alignment(initial),
            get: { widget, value in
                if let widget = widget as? W { g_value_set_enum(value, gint(widget[keyPath: path].gtk.rawValue)) }
            },
            set: { widget, value in
                let align = GtkAlign(GtkAlign.RawValue(g_value_get_enum(value)))
                if let widget = widget as? W { widget[keyPath: path] = Alignment(align) }
            })
    }

    /// A new, floating GParamSpec; `g_object_class_install_property` sinks it.
    var specification: UnsafeMutablePointer<GParamSpec>? {
        let flags = GParamFlags(rawValue: shim_param_readwrite.rawValue | shim_param_explicit_notify.rawValue)
        return switch kind {
        case .text(let initial): g_param_spec_string(name, nil, nil, initial, flags)
        case .flag(let initial): g_param_spec_boolean(name, nil, nil, initial ? 1 : 0, flags)
        case .number(let initial, let range):
            g_param_spec_int(
                name, nil, nil, gint(clamping: range.lowerBound), gint(clamping: range.upperBound),
                gint(clamping: initial), flags)
        case .alignment(let initial):
            g_param_spec_enum(name, nil, nil, gtk_align_get_type(), gint(initial.gtk.rawValue), flags)
        }
    }
}

/// A signal of a custom widget class.
public struct WidgetSignal {
    let name: String
    /// The number of string arguments, followed by ``numbers`` arguments of type double.
    let texts: Int
    let numbers: Int

    public init(_ name: String, texts: Int = 0, numbers: Int = 0) {
        self.name = name
        self.texts = texts
        self.numbers = numbers
    }

    func register(_ type: GType) {
        var types =
            [GType](repeating: shim_type_string(), count: texts)
            + [GType](repeating: shim_type_double(), count: numbers)
        g_signal_newv(
            name, type, shim_signal_run_last, nil, nil, nil, nil, shim_type_none(), guint(texts + numbers), &types)
    }
}

extension WidgetImplementation {
    /// Emits one of the class's ``signals``.
    public final func emit(_ signal: String, _ texts: String..., numbers: [Double] = []) {
        let id = g_signal_lookup(signal, Self.type)
        precondition(id != 0, "no signal \(signal)")
        var values = [GValue](repeating: GValue(), count: 1 + texts.count + numbers.count)
        g_value_init(&values[0], Self.type)
        g_value_set_object(&values[0], pointer)
        for (index, text) in texts.enumerated() {
            g_value_init(&values[index + 1], shim_type_string())
            g_value_set_string(&values[index + 1], text)
        }
        for (index, number) in numbers.enumerated() {
            let valueIndex = 1 + texts.count + index
            g_value_init(&values[valueIndex], shim_type_double())
            g_value_set_double(&values[valueIndex], number)
        }
        g_signal_emitv(values, id, 0, nil)
        for index in values.indices { g_value_unset(&values[index]) }
    }

    /// Emits `notify` for the property.
    public final func notify(_ property: String) { g_object_notify(cast(), property) }
}

extension WidgetTypes {
    static func install(
        _ properties: [WidgetProperty], from firstID: guint, _ objectClass: UnsafeMutablePointer<GObjectClass>
    ) {
        defer {
            for (index, property) in properties.enumerated() {
                g_object_class_install_property(objectClass, firstID + guint(index), property.specification)
            }
        }
        // A base class with properties of its own dispatches by ID itself.
        guard !properties.isEmpty, firstID == 1 else { return }
        objectClass.pointee.set_property = { object, id, value, _ in
            nonisolated(unsafe) let (object, value) = (object, value)
            MainActor.assumeIsolated {
                guard let value, let widget = WidgetTypes.implementation(of: object) else { return }
                Swift.type(of: widget).properties[Int(id) - 1].set(widget, value)
            }
        }
        objectClass.pointee.get_property = { object, id, value, _ in
            nonisolated(unsafe) let (object, value) = (object, value)
            MainActor.assumeIsolated {
                guard let value, let widget = WidgetTypes.implementation(of: object) else { return }
                Swift.type(of: widget).properties[Int(id) - 1].get(widget, value)
            }
        }
    }

    /// Overrides `GtkBuildable.add_child` so that ``WidgetImplementation/add(_:to:)`` receives the `<child>` elements
    /// of `.ui` files.
    static func acceptChildren(_ type: GType) {
        var info = GInterfaceInfo(
            interface_init: { interface, _ in
                guard let interface else { return }
                interface.assumingMemoryBound(to: GtkBuildableIface.self).pointee.add_child = {
                    buildable, builder, child, type in
                    nonisolated(unsafe) let (buildable, builder, child, type) = (buildable, builder, child, type)
                    MainActor.assumeIsolated { WidgetTypes.addChild(buildable, builder, child, type) }
                }
            }, interface_finalize: nil, interface_data: nil)
        g_type_add_interface_static(type, gtk_buildable_get_type(), &info)
    }

    private static func addChild(
        _ buildable: OpaquePointer?, _ builder: OpaquePointer?, _ child: UnsafeMutablePointer<GObject>?,
        _ type: UnsafePointer<CChar>?
    ) {
        guard let buildable, let child else { return }
        let pointer = UnsafeMutableRawPointer(buildable)
        let name = type.map { String(cString: $0) }
        let isWidget = shim_is_a(child, gtk_widget_get_type()) != 0
        if isWidget, implementation(of: pointer)?.add(Widget(borrowing: child), to: name) == true { return }
        guard let interface = g_type_interface_peek(shim_instance_class(pointer), gtk_buildable_get_type()),
            let parent = g_type_interface_peek_parent(interface)
        else { return }
        parent.assumingMemoryBound(to: GtkBuildableIface.self).pointee.add_child(buildable, builder, child, type)
    }
}
