package import Foundation

/// The folder of a single run.
package struct SoakFolder {
    package let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("parlance-soak-\(UUID().uuidString)", isDirectory: true)

    package init() {}

    /// Removes the folder. If that fails, temporary files are left over, which does no harm.
    package func remove() { try? FileManager.default.removeItem(at: url) }
}
