public import Foundation
public import GtkKit

/// What another program puts on the clipboard, by xclip.
@MainActor
public enum RealClipboard {
    private static var owner: Process?

    /// Offers the content of a file in one form, given as a MIME type, in the place of what was offered before.
    public static func offer(_ file: URL, as type: String) throws {
        try own(["-selection", "clipboard", "-t", type, "-i", file.path])
    }

    /// Selects a text, as for the middle button.
    public static func offerSelection(_ text: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("selection-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        try own(["-selection", "primary", "-i", file.path])
    }

    private static func own(_ arguments: [String]) throws {
        end()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        // In the foreground: Foundation believes a process that leaves a child behind to be running.
        process.arguments = ["xclip", "-quiet"] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        owner = process
    }

    /// Offers nothing any more.
    public static func end() {
        owner?.terminate()
        owner = nil
    }

    /// Waits until GTK knows that this form is offered.
    public static func wait(for type: String, of widget: Widget) throws {
        let isThere = { ContentOffer.clipboard(of: widget)?.types.contains(type) == true }
        guard MainLoop.pump(until: isThere) else { throw Unfinished() }
    }
}
