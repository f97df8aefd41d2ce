import CGtk

/// A popover menu attached to a widget, from a menu model in a `.ui` file.
public final class PopoverMenu: Popover {
    public convenience init(model: Object, parent: Widget) {
        self.init(model: model)
        attachPopover(to: parent)
        hasArrow = false
        halign = .start
    }

    fileprivate convenience init(model: Object) {
        self.init(sinking: gtk_popover_menu_new_from_model(model.cast()))
    }

    /// Opens at a point in the parent's coordinates.
    public func popUp(x: Double, y: Double) {
        point(x: x, y: y)
        popUp()
    }
}

/// A button that opens a popover.
public final class MenuButton: Widget {
    public convenience init() { self.init(sinking: gtk_menu_button_new()) }

    public func setChild(_ child: Widget?) { gtk_menu_button_set_child(cast(), child?.cast()) }
    /// Gives the button a menu. Its actions are those of the button and of what is around it.
    public func setMenu(_ menu: Menu) { gtk_menu_button_set_menu_model(cast(), menu.cast()) }
    public func setPopover(_ popover: Widget?) { gtk_menu_button_set_popover(cast(), popover?.cast()) }
    /// Opens the popover above the button.
    public func opensUpward() { gtk_menu_button_set_direction(cast(), GTK_ARROW_UP) }
    public func popUp() { gtk_menu_button_popup(cast()) }

    public var iconName: String? {
        get { gtk_menu_button_get_icon_name(cast()).map { String(cString: $0) } }
        set { gtk_menu_button_set_icon_name(cast(), newValue ?? "") }
    }

    /// Gives the button a menu from a menu model in a `.ui` file; its widgets are made when it is first opened.
    public func setMenu(_ model: Object) { setPopover { PopoverMenu(model: model) } }

    /// Sets a factory that creates the popover the first time the button opens it.
    public func setPopover(_ make: @escaping @MainActor () -> Widget) {
        let box = Unmanaged.passRetained(ClosureBox(make)).toOpaque()
        gtk_menu_button_set_create_popup_func(
            cast(),
            { button, data in
                nonisolated(unsafe) let (button, data) = (button, data)
                MainActor.assumeIsolated {
                    guard let button, let data, gtk_menu_button_get_popover(button) == nil else { return }
                    let make = Unmanaged<ClosureBox<@MainActor () -> Widget>>.fromOpaque(data).takeUnretainedValue()
                    // A temporary could be freed before the call.
                    let popover = make.closure()
                    gtk_menu_button_set_popover(button, popover.cast())
                }
            }, box,
            { data in
                if let data { Unmanaged<ClosureBox<@MainActor () -> Widget>>.fromOpaque(data).release() }
            })
    }
}
