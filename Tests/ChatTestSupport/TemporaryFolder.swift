public import Foundation

/// A folder of its own for a test, deleted with this value.
public final class TemporaryFolder: Sendable {
    public let url: URL

    public init() {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("parlance-test-\(UUID().uuidString)", isDirectory: true)
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// A path inside, which need not exist.
    public func path(_ name: String) -> URL {
        url.appendingPathComponent(name)
    }
}
