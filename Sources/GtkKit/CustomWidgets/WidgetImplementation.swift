public import CGtk

/// The minimum and natural size of a widget in one orientation, in pixels.
public struct SizeRequest: Equatable, Sendable {
    public var minimum: Int
    public var natural: Int

    public init(minimum: Int, natural: Int) {
        self.minimum = minimum
        self.natural = max(minimum, natural)
    }
}

public enum Orientation: Sendable {
    case horizontal, vertical

    public var gtk: GtkOrientation { self == .horizontal ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL }
}

/// The widget that a ``WidgetImplementation`` belongs to, without a reference of its own.
///
/// The implementation passes it to its parts, which do not outlive the implementation. Nothing else may keep it.
public struct WidgetInstance: WidgetProtocol {
    let pointer: UnsafeMutableRawPointer

    public func withRawPointer<R>(_ body: (UnsafeMutableRawPointer) throws -> R) rethrows -> R { try body(pointer) }
}

/// The Swift implementation of a custom widget class: a real GType that `g_object_new` and `.ui` files can instantiate.
///
/// The GObject owns its implementation and releases it on finalization; `instance` is therefore valid for the lifetime
/// of the implementation. Closures that outlive a call must capture the implementation weakly.
/// Methods that a subclass does not override are inherited from `GtkWidget`.
open class WidgetImplementation: WidgetProtocol {
    /// The widget that owns this implementation.
    public let instance: WidgetInstance

    var pointer: UnsafeMutableRawPointer { instance.pointer }

    /// Called on instance initialization by GObject. Create children here.
    public required init(instance: WidgetInstance) {
        self.instance = instance
    }

    public final func withRawPointer<R>(_ body: (UnsafeMutableRawPointer) throws -> R) rethrows -> R {
        try withExtendedLifetime(self) { try body(pointer) }
    }

    /// The GType name, as used in `.ui` files.
    open class var typeName: String { String(describing: self) }
    /// The concrete GTK widget class to extend, which keeps its own CSS name, layout and drawing; `nil` for a widget
    /// that measures, allocates and draws itself with the methods below.
    open class var extendedType: GType? { nil }
    /// The name of the widget's CSS node.
    open class var cssName: String { "widget" }
    open class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_GENERIC }
    /// The properties that the class adds.
    open class var properties: [WidgetProperty] { [] }
    /// The ID of the first of ``properties``, after those that a base class installs.
    class var firstPropertyID: guint { 1 }
    /// The signals that the class adds.
    open class var signals: [WidgetSignal] { [] }
    /// The type of the layout manager, which replaces ``measure(_:for:)`` and ``allocate(width:height:)``.
    open class var layoutManager: LayoutManager? { nil }
    /// Called once during class initialization, to install signals, key bindings and properties.
    open class func initialize(_ widgetClass: UnsafeMutablePointer<GtkWidgetClass>) {}
    /// Called once after the type has been registered, to add interfaces.
    open class func registered(_ type: GType) {}

    open var requestMode: GtkSizeRequestMode { GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH }
    /// - Parameter size: The size in the other orientation, or -1 if unconstrained.
    open func measure(_ orientation: Orientation, for size: Int) -> SizeRequest { SizeRequest(minimum: 0, natural: 0) }
    open func allocate(width: Int, height: Int) {}
    /// Draws the widget; by default, its children.
    open func snapshot(_ snapshot: Snapshot) {
        for child in widget.children { snapshot.draw(child, of: self) }
    }
    /// Adds a `<child>` from a `.ui` file.
    /// - Parameter childType: Its `type` attribute.
    /// - Returns: `false` if the class does not handle the child type.
    open func add(_ child: Widget, to childType: String?) -> Bool { false }
    /// Called when the widget's CSS style has changed.
    open func styleChanged() {}
    /// Drops references to other objects; by default, unparents the children. Can be called more than once.
    open func dispose() {
        guard Self.extendedType == nil else { return }
        for child in widget.children { gtk_widget_unparent(child.cast()) }
    }

    /// A new strong reference to the widget. Storing it in the implementation would create a reference cycle.
    public final var widget: Widget { Widget(borrowing: pointer) }

    final func cast<T>() -> UnsafeMutablePointer<T> { pointer.assumingMemoryBound(to: T.self) }

    /// The GType of this class, registered on first use.
    public class var type: GType { WidgetTypes.type(of: self) }

    /// Creates a widget of this class.
    public class func make() -> Widget { Widget(sinking: makeFloating()) }

    /// Creates a widget without an owner, as GTK's constructors do.
    fileprivate class func makeFloating() -> UnsafeMutableRawPointer {
        extendedType == nil ? shim_object_new_with_role(type, role) : shim_object_new(type)
    }

    /// Returns the implementation of a widget, or `nil` if the widget is of another class.
    public static func of(_ widget: Widget) -> Self? {
        WidgetTypes.implementation(of: widget.pointer) as? Self
    }
}

extension WidgetProtocol where Self: WidgetImplementation {
    /// Creates a widget of this class, and its implementation.
    ///
    /// The container that ``WidgetImplementation/widget`` is added to owns both: do not use the implementation after
    /// the widget has gone with its window.
    public init() {
        guard let implementation = WidgetTypes.implementation(of: Self.makeFloating()) as? Self else {
            fatalError("a class makes widgets with its own implementation")
        }
        self = implementation
    }
}

/// The registry of custom widget classes.
enum WidgetTypes {
    private static var types: [ObjectIdentifier: GType] = [:]
    private static var classes: [GType: WidgetImplementation.Type] = [:]
    private static let quark = g_quark_from_string("parlance-implementation")

    static func type(of implementation: WidgetImplementation.Type) -> GType {
        if let type = types[ObjectIdentifier(implementation)] { return type }
        var query = GTypeQuery()
        let parent = implementation.extendedType ?? gtk_widget_get_type()
        g_type_query(parent, &query)
        let type = g_type_register_static_simple(
            parent, implementation.typeName, query.class_size,
            { klass, _ in
                nonisolated(unsafe) let klass = klass
                MainActor.assumeIsolated { WidgetTypes.initializeClass(klass) }
            }, query.instance_size,
            { instance, klass in
                nonisolated(unsafe) let (instance, klass) = (instance, klass)
                MainActor.assumeIsolated { WidgetTypes.initializeInstance(instance, klass) }
            }, GTypeFlags(rawValue: 0))
        types[ObjectIdentifier(implementation)] = type
        classes[type] = implementation
        acceptChildren(type)
        implementation.registered(type)
        return type
    }

    static func implementation(of pointer: UnsafeMutableRawPointer?) -> WidgetImplementation? {
        guard let pointer, let peer = g_object_get_qdata(pointer.assumingMemoryBound(to: GObject.self), quark) else {
            return nil
        }
        return Unmanaged<WidgetImplementation>.fromOpaque(peer).takeUnretainedValue()
    }

    private static func initializeInstance(_ instance: UnsafeMutablePointer<GTypeInstance>?, _ klass: gpointer?) {
        guard let instance, let klass, let implementation = classes[shim_class_type(klass)] else { return }
        let peer = implementation.init(instance: WidgetInstance(pointer: instance))
        g_object_set_qdata_full(
            UnsafeMutableRawPointer(instance).assumingMemoryBound(to: GObject.self), quark,
            Unmanaged.passRetained(peer).toOpaque()
        ) { peer in
            if let peer { Unmanaged<WidgetImplementation>.fromOpaque(peer).release() }
        }
    }

    private static func initializeClass(_ klass: gpointer?) {
        guard let klass, let implementation = classes[shim_class_type(klass)] else { return }
        let widgetClass = klass.assumingMemoryBound(to: GtkWidgetClass.self)
        if implementation.extendedType == nil {
            gtk_widget_class_set_css_name(widgetClass, implementation.cssName)
            gtk_widget_class_set_accessible_role(widgetClass, implementation.role)
            overrideVirtualFunctions(widgetClass)
        }
        klass.assumingMemoryBound(to: GObjectClass.self).pointee.dispose = { object in
            nonisolated(unsafe) let object = object
            MainActor.assumeIsolated {
                guard let implementation = WidgetTypes.implementation(of: object) else { return }
                implementation.dispose()
                guard let parent = WidgetTypes.parentClass(of: implementation) else { return }
                parent.assumingMemoryBound(to: GObjectClass.self).pointee.dispose(object)
            }
        }
        widgetClass.pointee.css_changed = { widget, change in
            nonisolated(unsafe) let (widget, change) = (widget, change)
            MainActor.assumeIsolated {
                guard let implementation = WidgetTypes.implementation(of: widget) else { return }
                let parent = WidgetTypes.parentClass(of: implementation)
                parent?.assumingMemoryBound(to: GtkWidgetClass.self).pointee.css_changed(widget, change)
                implementation.styleChanged()
            }
        }
        if let manager = implementation.layoutManager {
            gtk_widget_class_set_layout_manager_type(widgetClass, manager.type)
        }
        for signal in implementation.signals { signal.register(shim_class_type(klass)) }
        implementation.initialize(widgetClass)
        install(
            implementation.properties, from: implementation.firstPropertyID,
            klass.assumingMemoryBound(to: GObjectClass.self))
    }

    /// Returns the parent class, for chaining up from an override.
    static func parentClass(of implementation: WidgetImplementation) -> gpointer? {
        g_type_class_peek(Swift.type(of: implementation).extendedType ?? gtk_widget_get_type())
    }

    private static func overrideVirtualFunctions(_ widgetClass: UnsafeMutablePointer<GtkWidgetClass>) {
        widgetClass.pointee.get_request_mode = { widget in
            nonisolated(unsafe) let widget = widget
            return MainActor.assumeIsolated {
                WidgetTypes.implementation(of: widget)?.requestMode ?? GTK_SIZE_REQUEST_CONSTANT_SIZE
            }
        }
        widgetClass.pointee.measure = { widget, orientation, size, minimum, natural, minimumBaseline, naturalBaseline in
            nonisolated(unsafe) let (widget, minimum, natural) = (widget, minimum, natural)
            MainActor.assumeIsolated {
                let measured = WidgetTypes.implementation(of: widget)?.measure(
                    orientation == GTK_ORIENTATION_HORIZONTAL ? .horizontal : .vertical, for: Int(size))
                minimum?.pointee = Int32(clamping: measured?.minimum ?? 0)
                natural?.pointee = Int32(clamping: measured?.natural ?? 0)
            }
            minimumBaseline?.pointee = -1
            naturalBaseline?.pointee = -1
        }
        widgetClass.pointee.size_allocate = { widget, width, height, _ in
            nonisolated(unsafe) let widget = widget
            MainActor.assumeIsolated {
                WidgetTypes.implementation(of: widget)?.allocate(width: Int(width), height: Int(height))
            }
        }
        widgetClass.pointee.snapshot = { widget, snapshot in
            nonisolated(unsafe) let (widget, snapshot) = (widget, snapshot)
            MainActor.assumeIsolated {
                if let snapshot { WidgetTypes.implementation(of: widget)?.snapshot(Snapshot(pointer: snapshot)) }
            }
        }
    }
}
