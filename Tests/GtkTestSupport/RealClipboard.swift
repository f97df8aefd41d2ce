import CGtk
public import Foundation
public import GtkKit

/// Clipboard content owned by another process, `xclip`.
@MainActor
public enum RealClipboard {
    private static var owner: Process?

    /// Offers a file's content as one MIME type, replacing the previous offer.
    public static func offer(_ file: URL, as type: String) throws {
        try startOwner(["-selection", "clipboard", "-t", type, "-i", file.path])
    }

    /// Puts text into the primary selection, which the middle button pastes, and waits until GTK knows that.
    public static func offerSelection(_ text: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("selection-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        try startOwner(["-selection", "primary", "-i", file.path])
        let selection = gdk_display_get_primary_clipboard(gdk_display_get_default())
        guard MainLoop.pump(until: { isForeign(selection) }) else { throw TimedOut() }
    }

    private static func startOwner(_ arguments: [String]) throws {
        end()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // Run in the foreground: Foundation considers a process running while a child it forked is alive.
        process.arguments = ["xclip", "-quiet"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        owner = process
    }

    /// Withdraws the offer, and waits until GTK knows that: another offer of its type would seem to be there already.
    public static func end() {
        guard let process = owner else { return }
        owner = nil
        process.terminate()
        let display = gdk_display_get_default()
        let (clipboard, selection) = (gdk_display_get_clipboard(display), gdk_display_get_primary_clipboard(display))
        _ = MainLoop.pump { !process.isRunning && !isForeign(clipboard) && !isForeign(selection) }
    }

    /// Whether the content belongs to another process.
    private static func isForeign(_ clipboard: OpaquePointer?) -> Bool {
        var count: gsize = 0
        gdk_content_formats_get_mime_types(gdk_clipboard_get_formats(clipboard), &count)
        return count > 0 && gdk_clipboard_is_local(clipboard) == 0
    }

    /// Waits until GTK sees this MIME type on the clipboard.
    public static func wait(for type: String, of widget: Widget) throws {
        let isOffered = { ContentOffer.clipboard(of: widget)?.types.contains(type) == true }
        guard MainLoop.pump(until: isOffered) else { throw TimedOut() }
    }
}
