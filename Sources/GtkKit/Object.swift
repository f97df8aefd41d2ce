public import CGtk

/// A strong reference to a GObject.
///
/// A wrapper holds no other state: two wrappers of one GObject are interchangeable, and dropping the last one
/// drops the reference. Wrappers keep the GObject alive, so a widget's own signal handlers must not capture one
/// strongly: capture the view weakly. A weakly captured wrapper is gone as soon as nobody holds that wrapper, however
/// long the GObject lives.
@MainActor open class Object {
    public let pointer: UnsafeMutableRawPointer

    /// Adds a reference to an object that belongs to somebody else ("transfer none"): what a getter, a signal or a
    /// virtual function hands out. A floating reference stays floating, since it is its maker's to sink: GTK from 4.12
    /// binds a list item while it still floats, and whoever sank it there would free it with the wrapper.
    public required init(borrowing pointer: UnsafeMutableRawPointer) {
        g_object_ref(pointer)
        self.pointer = pointer
    }

    /// Takes over the caller's reference ("transfer full" of an object that does not float): what the constructors of
    /// controllers, models and actions return.
    public init(owning pointer: UnsafeMutableRawPointer) {
        assert(g_object_is_floating(pointer) == 0, "an object that floats is to be sunk by whoever made it")
        self.pointer = pointer
    }

    /// Takes the reference of an object that the caller has just made and that floats, as constructors of widgets
    /// return it. A window's constructor returns a reference that belongs to GTK: one is added to it.
    public init(sinking pointer: UnsafeMutableRawPointer) {
        g_object_ref_sink(pointer)
        self.pointer = pointer
    }

    // Needs the class's explicit @MainActor: optimised builds of other modules do not see the target's
    // default isolation (Swift 6.3.1: "deinit is marked isolated, but containing class … is not").
    isolated deinit {
        g_object_unref(pointer)
    }

    /// The pointer as the C type that the called function asks for.
    ///
    /// Only on a variable or parameter, never on a temporary: `f(make().cast())` may free what `make` returned
    /// before `f` is entered, whereas a named value lives until the call returns.
    public final func cast<T>() -> UnsafeMutablePointer<T> {
        pointer.assumingMemoryBound(to: T.self)
    }

    /// The pointer for C types whose fields are hidden. Which types those are differs between GTK versions:
    /// with both spellings the same source fits.
    public final func cast() -> OpaquePointer {
        OpaquePointer(pointer)
    }

    /// The pointer with a reference of its own, for a function that takes one over ("transfer full").
    public final func retained<T>() -> UnsafeMutablePointer<T> {
        g_object_ref(pointer)
        return cast()
    }

    public final func retained() -> OpaquePointer {
        g_object_ref(pointer)
        return cast()
    }

    public final func isSame(as other: Object?) -> Bool {
        pointer == other?.pointer
    }

    /// A wrapper of another class for the same object, or nil if the object is not of that GType.
    public final func wrapped<T: Object>(as wrapper: T.Type, _ type: GType) -> T? {
        shim_is_a(pointer, type) != 0 ? T(borrowing: pointer) : nil
    }

    // MARK: Properties

    public final func setProperty(_ name: String, _ value: Bool) {
        withValue(shim_type_boolean()) {
            g_value_set_boolean(&$0, value ? 1 : 0)
            g_object_set_property(cast(), name, &$0)
        }
    }

    public final func setProperty(_ name: String, _ value: String?) {
        withValue(shim_type_string()) {
            g_value_set_string(&$0, value)
            g_object_set_property(cast(), name, &$0)
        }
    }

    public final func setProperty(_ name: String, _ value: Double) {
        withValue(shim_type_double()) {
            g_value_set_double(&$0, value)
            g_object_set_property(cast(), name, &$0)
        }
    }

    public final func setProperty(_ name: String, _ value: Int) {
        withValue(shim_type_int()) {
            g_value_set_int(&$0, Int32(clamping: value))
            g_object_set_property(cast(), name, &$0)
        }
    }

    public final func setProperty(_ name: String, _ value: GdkRGBA?) {
        withValue(gdk_rgba_get_type()) {
            if var value { g_value_set_boxed(&$0, &value) }
            g_object_set_property(cast(), name, &$0)
        }
    }

    /// An integer property.
    public final func integer(_ name: String) -> Int {
        withValue(shim_type_int()) {
            g_object_get_property(cast(), name, &$0)
            return Int(g_value_get_int(&$0))
        }
    }

    /// A property that is on or off.
    public final func isOn(_ name: String) -> Bool {
        withValue(shim_type_boolean()) {
            g_object_get_property(cast(), name, &$0)
            return g_value_get_boolean(&$0) != 0
        }
    }

    /// - Parameter type: the GType of the enumeration.
    public final func setEnumeration(_ name: String, _ value: Int32, _ type: GType) {
        withValue(type) {
            g_value_set_enum(&$0, value)
            g_object_set_property(cast(), name, &$0)
        }
    }

    /// A property that holds text; nil if it holds none.
    public final func text(ofProperty name: String) -> String? {
        withValue(shim_type_string()) {
            g_object_get_property(cast(), name, &$0)
            return g_value_get_string(&$0).map { String(cString: $0) }
        }
    }

    private func withValue<R>(_ type: GType, _ body: (inout GValue) -> R) -> R {
        var value = GValue()
        g_value_init(&value, type)
        defer { g_value_unset(&value) }
        return body(&value)
    }

    /// Calls `handler` once, when the object is finalised. For tests of lifetimes.
    public final func onFinalize(_ handler: @escaping () -> Void) {
        let box = Unmanaged.passRetained(ClosureBox(handler))
        g_object_weak_ref(
            cast(),
            { data, _ in
                MainActor.assumeIsolated {
                    guard let data else { return }
                    Unmanaged<ClosureBox<() -> Void>>.fromOpaque(data).takeRetainedValue().closure()
                }
            }, box.toOpaque())
    }
}
