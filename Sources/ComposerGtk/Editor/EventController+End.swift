import GtkKit

extension EventController {
    /// Removes the controller from its widget, for one on a widget that lives longer than what handles its events.
    func end() { widget?.removeController(self) }
}
