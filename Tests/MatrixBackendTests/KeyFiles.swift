import Foundation

/// A copy of a closed file of keys, with its log: a read that goes on while the file is closed leaves the log, in which
/// most of the content may be.
struct KeyFiles {
    let file: Data
    private let log: Data?

    private static func paths(in store: URL) -> (file: URL, log: URL) {
        (store.appending(path: "keys.sqlite"), store.appending(path: "keys.sqlite-wal"))
    }

    init(in store: URL) throws {
        let paths = Self.paths(in: store)
        file = try Data(contentsOf: paths.file)
        log = FileManager.default.fileExists(atPath: paths.log.path) ? try Data(contentsOf: paths.log) : nil
    }

    /// Puts the copy in the place of the current file.
    func restore(in store: URL) throws {
        let paths = Self.paths(in: store)
        if FileManager.default.fileExists(atPath: paths.log.path) { try FileManager.default.removeItem(at: paths.log) }
        try file.write(to: paths.file)
        try log?.write(to: paths.log)
    }
}
