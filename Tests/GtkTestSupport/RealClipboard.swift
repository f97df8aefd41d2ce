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

    /// Puts text into the primary selection, which the middle button pastes.
    public static func offerSelection(_ text: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("selection-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        try startOwner(["-selection", "primary", "-i", file.path])
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

    /// Withdraws the offer.
    public static func end() {
        owner?.terminate()
        owner = nil
    }

    /// Waits until GTK sees this MIME type on the clipboard.
    public static func wait(for type: String, of widget: Widget) throws {
        let isOffered = { ContentOffer.clipboard(of: widget)?.types.contains(type) == true }
        guard MainLoop.pump(until: isOffered) else { throw TimedOut() }
    }
}
