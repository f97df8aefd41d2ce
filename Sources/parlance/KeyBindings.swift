import GtkKit

/// The keys of the application's and the window's actions.
enum KeyBindings {
    static func apply(to application: Application) {
        for (action, keys) in all { application.setKeys(keys, for: action) }
    }

    private static let all: [(action: String, keys: [String])] = [
        ("app.quit", ["<Control>q"]), ("app.preferences", ["<Control>comma"]),
        ("win.show-help-overlay", ["<Control>question", "<Control>slash"]),
        ("win.close", ["<Control>w"]), ("win.new-room", ["<Control>n"]),
        ("win.switch-room", ["<Control>k"]),
        ("win.next-room", ["<Alt>Down", "<Control>Page_Down"]),
        ("win.previous-room", ["<Alt>Up", "<Control>Page_Up"]),
        ("win.next-unread-room", ["<Alt><Shift>Down", "<Control><Shift>Page_Down"]),
        ("win.previous-unread-room", ["<Alt><Shift>Up", "<Control><Shift>Page_Up"]),
        ("win.open-window", ["<Control><Shift>n"]),
        ("win.add-files", ["<Control>o"]),
        ("win.zoom-in", ["<Control>plus", "<Control>equal", "<Control>KP_Add"]),
        ("win.zoom-out", ["<Control>minus", "<Control>KP_Subtract"]),
        ("win.zoom-reset", ["<Control>0", "<Control>KP_0"]),
        ("win.find", ["<Control>f"]), ("win.find-older", ["<Control>g"]), ("win.find-newer", ["<Control><Shift>g"]),
        ("win.search", ["<Control><Shift>f"]),
        ("win.jump-to-date", ["<Control>j"]),
        ("win.retry-unsent", ["<Control><Shift>r"]),
        ("win.discard-unsent", ["<Alt><Shift>Delete"]),
        ("win.room-details", ["<Alt>Return"]), ("win.next-region", ["F6"]), ("win.previous-region", ["<Shift>F6"]),
    ]
}
