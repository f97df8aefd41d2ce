import Foundation

/// A folder of one run.
struct SoakFolder {
    let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("parlance-soak-\(UUID().uuidString)", isDirectory: true)

    func remove() { try? FileManager.default.removeItem(at: url) }
}
