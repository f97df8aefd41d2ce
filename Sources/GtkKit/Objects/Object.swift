public import CGtk

/// A strong reference to a GObject.
///
/// A wrapper has no other state: two wrappers of one GObject are interchangeable, and deallocating one drops its
/// reference. Wrappers keep the GObject alive, so a widget's own signal handlers must not capture one strongly: capture
/// the view weakly. A weak reference to a wrapper becomes `nil` with the last strong reference to that wrapper, however
/// long the GObject lives.
@MainActor open class Object: ObjectReference {
    let pointer: UnsafeMutableRawPointer

    /// Adds a reference to an object owned by someone else ("transfer none"), as returned by getters or passed to
    /// signal handlers and virtual functions. A floating reference stays floating: from GTK 4.12, list items are still
    /// floating while they are bound, and sinking one there would free it with the wrapper.
    public required init(borrowing pointer: UnsafeMutableRawPointer) {
        g_object_ref(pointer)
        self.pointer = pointer
    }

    /// Takes ownership of the caller's reference ("transfer full", not floating), as returned by the constructors of
    /// controllers, models and actions.
    public init(owning pointer: UnsafeMutableRawPointer) {
        assert(g_object_is_floating(pointer) == 0, "an object that floats is to be sunk by whoever made it")
        self.pointer = pointer
    }

    /// Sinks the floating reference of a newly created object, as returned by widget constructors. A window's
    /// constructor returns a reference that belongs to GTK; a new one is added to it.
    public init(sinking pointer: UnsafeMutableRawPointer) {
        g_object_ref_sink(pointer)
        self.pointer = pointer
    }

    // Needs the class's explicit @MainActor: optimized builds of other modules do not see the target's
    // default isolation (Swift 6.3.1: "deinit is marked isolated, but containing class … is not").
    isolated deinit {
        g_object_unref(pointer)
    }

    /// The pointer, typed for the C function that receives it.
    ///
    /// Use it only on a variable or parameter, never on a temporary: `f(make().cast())` may free what `make` returned
    /// before `f` is entered, whereas a named value lives until the call returns.
    final func cast<T>() -> UnsafeMutablePointer<T> {
        pointer.assumingMemoryBound(to: T.self)
    }

    /// The pointer for opaque C types. Which types are opaque differs between GTK versions; overloading lets the same
    /// source compile with all of them.
    final func cast() -> OpaquePointer {
        OpaquePointer(pointer)
    }

    /// Returns the pointer with an added reference, for "transfer full" parameters.
    final func retained<T>() -> UnsafeMutablePointer<T> {
        g_object_ref(pointer)
        return cast()
    }

    final func retained() -> OpaquePointer {
        g_object_ref(pointer)
        return cast()
    }

    public final func withRawPointer<R>(_ body: (UnsafeMutableRawPointer) throws -> R) rethrows -> R {
        try withExtendedLifetime(self) { try body(pointer) }
    }

    /// Identifies the object, for example as the key of a dictionary.
    public final var identity: ObjectIdentity { ObjectIdentity(pointer: pointer) }

    public final func isSame(as other: Object?) -> Bool {
        pointer == other?.pointer
    }

    /// Returns a wrapper of another class for the same object, or `nil` if it is not an instance of `type`.
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

    /// Returns the value of a string property, empty if it has none.
    public final func text(_ name: String) -> String {
        withValue(shim_type_string()) {
            g_object_get_property(cast(), name, &$0)
            return g_value_get_string(&$0).map { String(cString: $0) } ?? ""
        }
    }

    /// Returns the value of an integer property.
    public final func integer(_ name: String) -> Int {
        withValue(shim_type_int()) {
            g_object_get_property(cast(), name, &$0)
            return Int(g_value_get_int(&$0))
        }
    }

    /// Returns the value of a Boolean property.
    public final func isOn(_ name: String) -> Bool {
        withValue(shim_type_boolean()) {
            g_object_get_property(cast(), name, &$0)
            return g_value_get_boolean(&$0) != 0
        }
    }

    /// - Parameter type: The GType of the enumeration.
    public final func setEnumeration(_ name: String, _ value: Int32, _ type: GType) {
        withValue(type) {
            g_value_set_enum(&$0, value)
            g_object_set_property(cast(), name, &$0)
        }
    }

    /// Returns the value of a string property, or `nil` if it is null.
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

    /// Calls `handler` once, when the object is finalized. For lifetime tests.
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
