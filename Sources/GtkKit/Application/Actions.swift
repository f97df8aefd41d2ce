import CGtk

/// A set of named actions that menus, key bindings and buttons refer to as `prefix.name`.
///
/// The actions are removed with this object, so its creator must retain it: GTK 4.8 can hold on to the action group of
/// a window that was closed long ago.
public final class ActionGroup: Object {
    fileprivate var names: [String] = []

    isolated deinit {
        for name in names { g_action_map_remove_action(cast(), name) }
    }

    public convenience init() {
        self.init(owning: UnsafeMutableRawPointer(g_simple_action_group_new()))
    }

    /// Adds an action without a parameter.
    @discardableResult
    public func add(_ name: String, isEnabled: Bool = true, _ handler: @escaping @MainActor () -> Void) -> Action {
        names.append(name)
        return ActionMap.add(to: pointer, name, acceptsString: false, isEnabled) { _ in handler() }
    }

    /// Adds an action that takes a string, such as an identifier.
    @discardableResult
    public func add(
        _ name: String, isEnabled: Bool = true, withString handler: @escaping @MainActor (String) -> Void
    ) -> Action {
        names.append(name)
        return ActionMap.add(to: pointer, name, acceptsString: true, isEnabled, handler)
    }
}

extension ActionGroup {
    /// Adds a stateful action that is on or off, which menus show with a check mark and toggle buttons as pressed. The
    /// handler decides whether its state changes.
    public func add(_ name: String, isOn: Bool, _ handler: @escaping @MainActor () -> Void) -> Action {
        names.append(name)
        let action = Action(
            owning: UnsafeMutableRawPointer(
                g_simple_action_new_stateful(name, nil, g_variant_new_boolean(isOn ? 1 : 0))))
        action.connect("activate") { _ in handler() }
        g_action_map_add_action(cast(), action.cast())
        return action
    }
}

/// An action in a group, an application or a window.
public final class Action: Object {
    /// The state of an action that is on or off.
    public var isOn: Bool {
        get {
            guard let state = g_action_get_state(cast()) else { return false }
            defer { g_variant_unref(state) }
            return g_variant_get_boolean(state) != 0
        }
        set { g_simple_action_set_state(cast(), g_variant_new_boolean(newValue ? 1 : 0)) }
    }
    public var isEnabled: Bool {
        get { g_action_get_enabled(cast()) != 0 }
        set { g_simple_action_set_enabled(cast(), newValue ? 1 : 0) }
    }
}

enum ActionMap {
    static func add(
        to map: UnsafeMutableRawPointer, _ name: String, acceptsString: Bool, _ isEnabled: Bool,
        _ handler: @escaping @MainActor (String) -> Void
    ) -> Action {
        let type = acceptsString ? g_variant_type_new("s") : nil
        defer { if let type { g_variant_type_free(type) } }
        let action = Action(owning: UnsafeMutableRawPointer(g_simple_action_new(name, type)))
        action.isEnabled = isEnabled
        action.connect("activate") { arguments in
            let text = arguments.variant(0).flatMap { g_variant_get_string($0, nil) }.map { String(cString: $0) }
            handler(text ?? "")
        }
        g_action_map_add_action(OpaquePointer(map), action.cast())
        return action
    }
}
