import CGtk

/// A GMenu that is built in code.
public final class Menu: Object {
    public convenience init() {
        self.init(owning: UnsafeMutableRawPointer(g_menu_new()))
    }

    /// - Parameter action: A detailed action name, such as `composer.format::Bold`.
    public func append(_ label: String, _ action: String) { g_menu_append(cast(), label, action) }
    public func append(section: Menu) { g_menu_append_section(cast(), nil, section.cast()) }
    public func append(_ label: String, submenu: Menu) { g_menu_append_submenu(cast(), label, submenu.cast()) }
    public func removeAll() { g_menu_remove_all(cast()) }
}
