public import ChatCore
public import Foundation
import Glibc

/// Questions about the file that do not require opening it.
extension KeyStore {
    /// Whether the file exists, readable or not, or what the next one begins with.
    public static func exists(in folder: URL) -> Bool {
        let file = file(in: folder)
        return file.exists || file.logSize > 0 || rebuilt(of: file).exists || LastingRecords(in: folder).exist
    }

    private static func begun(in folder: URL) -> MarkFile { MarkFile("keys.begun", in: folder) }

    /// The device whose keys were last created in the file, so that a missing file counts as damage. `nil` if there
    /// were none, or if they were set aside.
    /// - Throws: ``StoreOpeningError`` if this cannot be read.
    public static func begunDevice(in folder: URL) throws(StoreOpeningError) -> String? {
        try begun(in: folder).read()
    }

    /// - Throws: ``StoreOpeningError``.
    public static func noteBegun(_ device: String, in folder: URL) throws(StoreOpeningError) {
        try begun(in: folder).write(device)
    }

    private static func move(in folder: URL) -> MarkFile { MarkFile("keys.moving", in: folder) }

    /// Whether the credential of the keys is being moved, so that the place that it was in may still have it.
    /// - Throws: ``StoreOpeningError`` if this cannot be read.
    public static func isMovingCredential(in folder: URL) throws(StoreOpeningError) -> Bool {
        try move(in: folder).read() != nil
    }

    /// - Throws: ``StoreOpeningError``.
    public static func noteMovingCredential(_ isMoving: Bool, in folder: URL) throws(StoreOpeningError) {
        if isMoving { try move(in: folder).write("1") } else { try move(in: folder).remove() }
    }

    /// Exists if signs of damage were found in the file: the next opening then checks all of it before use.
    static func suspicion(in folder: URL) -> MarkFile { MarkFile("keys.suspect", in: folder) }

    /// Renames an unreadable file, so that another device's keys can be created. Nothing is deleted.
    /// - Parameter lasting: The records that the next file begins with, also if the process ends meanwhile.
    /// - Throws: ``StoreOpeningError``. The file then keeps its name, or the next call completes the rename.
    public static func setAside(in folder: URL, now: Date, lasting: [CryptoRecord] = []) throws(StoreOpeningError) {
        let file = file(in: folder)
        if !lasting.isEmpty { try LastingRecords(in: folder).write(lasting) }
        // Remove the mark before the file: if only the file remains, it is set aside again instead of counting as
        // damaged.
        try begun(in: folder).remove()
        let name = file.path + "-earlier-" + StoreFolder.stamp(now)
        for attempt in 1...1000 {
            let target = attempt == 1 ? name : "\(name)-\(attempt)"
            guard ["", "-wal", "-rebuilt"].allSatisfy({ !FileSystem.exists(target + $0) }) else { continue }
            // Rename the log first, so that a new file never finds it. What an interrupted repair left comes last, as
            // the file is not opened until then. It must not replace the next device's keys.
            let renamed = [
                (file.log, target + "-wal"), (file.path, target), (rebuilt(of: file).path, target + "-rebuilt"),
            ]
            for (from, to) in renamed where FileSystem.exists(from) {
                guard rename(from, to) == 0 else { throw .unwritable(path: from) }
            }
            unlink(file.path + "-shm")
            FileSystem.syncFolder(folder.path)
            return
        }
        throw .unwritable(path: name)
    }
}
