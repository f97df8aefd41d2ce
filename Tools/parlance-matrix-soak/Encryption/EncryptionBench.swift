import ChatCore
import ChatStore
import Foundation
import Glibc
import MatrixBackend
import Ratchets
import ToolSupport

/// The cost of encryption, relative to the same work without it in the same run. The server is in memory.
struct EncryptionBench {
    enum Section: String, CaseIterable {
        case cipher, room, sharing, restore, start
    }

    let sections: [Section]

    /// Runs off the main thread, as encryption does in the program: on it, each call would add a thread switch.
    @concurrent func run() async throws -> Bool {
        guard RatchetLibrary.version != nil else {
            print("encryption: the program was built without it, so there is nothing to measure")
            return true
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "parlance-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // A leftover folder is temporary anyway.
        defer { try? FileManager.default.removeItem(at: folder) }
        var table = BenchmarkTable(nameWidth: 72)
        for section in sections {
            let place = folder.appending(path: section.rawValue)
            switch section {
            case .cipher: table.add(try await CipherBench(folder: place).rows())
            case .room: table.add(try await SealedRoomBench(folder: place).rows())
            case .sharing: table.add(try await SharingBench(folder: place).rows())
            case .restore: table.add(try await RestoreBench(folder: place).rows())
            case .start: table.add(try await KeyStartBench(folder: place).rows())
            }
        }
        return table.finish()
    }
}

/// An account with keys, connected to an in-memory server.
struct BenchAccount {
    let store: ChatStore
    let backend: MatrixBackend

    static func start(
        in folder: URL, _ server: any MatrixTransport, _ credentials: any CredentialStore, device: String = "D"
    ) async throws -> BenchAccount {
        let user = MemberID(BenchHomeserver.user)
        let store = try await ChatStore.open(in: folder)
        let backend = try await MatrixBackend.start(
            over: store, server: BenchHomeserver.url, ownUserID: user, token: nil, hasSlidingSync: false,
            transport: server)
        await backend.openKeys(of: device, credential: KeyCredential(account: user.rawValue, place: credentials))
        await backend.resume(with: AccessToken("token"))
        return BenchAccount(store: store, backend: backend)
    }

    func close() async {
        await backend.close()
        await store.close()
    }
}

/// The CPU time of this process, in seconds.
enum ProcessTime {
    static var cpu: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }

    static func of(_ work: () async throws -> Void) async rethrows -> Double {
        let start = cpu
        try await work()
        return cpu - start
    }
}

extension [Double] {
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}
