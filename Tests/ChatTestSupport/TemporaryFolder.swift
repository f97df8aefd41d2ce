public import Foundation

/// A temporary folder for one test, deleted when this object is deallocated.
public final class TemporaryFolder: Sendable {
    public let url: URL

    public init() {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("parlance-test-\(UUID().uuidString)", isDirectory: true)
        // Without the folder, the first use of it fails the test.
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // A leftover temporary file is harmless.
        try? FileManager.default.removeItem(at: url)
    }

    /// Returns the URL of a file in the folder, which need not exist.
    public func path(_ name: String) -> URL {
        url.appendingPathComponent(name)
    }
}
