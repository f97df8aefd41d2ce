package import Foundation

/// A folder of one run.
package struct SoakFolder {
    package let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("parlance-soak-\(UUID().uuidString)", isDirectory: true)

    package init() {}

    package func remove() { try? FileManager.default.removeItem(at: url) }
}
