import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import Synchronization
import Testing

@testable import ChatArchive

/// Exports of what a server does not give completely.
@Suite(.timeLimit(.minutes(10))) struct IncompleteExportTests {
    private static let room = RoomID("room")
    private static let own = Member(id: MemberID("own"), displayName: "Robin", kind: .own)

    /// Creates a room with messages that have these texts and a file each.
    private func fixture(
        _ texts: [String], on server: (String) -> String = { _ in "a" }
    ) async throws -> ArchiveFixture {
        let fixture = try await ArchiveFixture()
        try await fixture.store.createRoom(
            NewRoom(
                room: Room(id: Self.room, name: "Room", kind: .group), members: [Self.own], createdAt: Fixtures.date))
        for (number, text) in texts.enumerated() {
            let file = MediaReference(uri: "mxc://\(server(text))/\(number)", name: "\(text).txt", type: "text/plain")
            let new = NewMessage(
                id: MessageID(text), sender: Self.own.id, text: text,
                sentAt: Fixtures.date.addingTimeInterval(Double(number)), kind: .file, attachments: [file])
            _ = try await fixture.store.append(new, to: Self.room)
        }
        return fixture
    }

    private func export(
        from source: PartialSource, clock: any Clock<Duration> = ManualClock(), in fixture: ArchiveFixture
    ) async throws -> ExportReport {
        let archive = RoomArchive(
            source: source, destination: fixture.backend, zone: ArchiveFixture.zone, now: { Fixtures.date },
            clock: clock)
        return try await archive.export(
            Self.room, named: "Room", as: .json, into: fixture.folder.path("."), progress: { _ in })
    }

    @Test("A room whose older history cannot be fetched is exported from there on, and the report says so")
    func olderHistory() async throws {
        let fixture = try await fixture(["a", "b", "c", "d", "e"])
        let third = try await fixture.messages(in: Self.room)[2]
        let source = PartialSource(backend: fixture.backend, start: third.position) { _ in throw ChatError.notFound }
        let report = try await export(from: source, in: fixture)
        #expect(report.messages == 3 && report.startDate == third.sentAt)
        let text = String(
            decoding: try Data(contentsOf: report.folder.appending(path: "messages.json")), as: UTF8.self)
        #expect(text.matches(of: /"text":"([a-z])"/).map { String($0.1) } == ["c", "d", "e"])
    }

    @Test("Where no message follows what is missing, the export is empty")
    func nothingStored() async throws {
        let fixture = try await fixture(["a"])
        let source = PartialSource(backend: fixture.backend, start: 1000) { _ in throw ChatError.notFound }
        #expect(try await export(from: source, in: fixture).messages == 0)
    }

    @Test(
        "A server that cannot be reached is not asked for every file, one that does not have some is",
        arguments: [
            (ChatError.unreachable, 3), (.signedOut, 1), (.notFound, 5), (.notPermitted, 5), (.storage(reason: ""), 5),
        ])
    func failingFiles(_ error: ChatError, requests: Int) async throws {
        let fixture = try await fixture(["a", "b", "c", "d", "e"])
        let asked = Mutex(0)
        let source = PartialSource(backend: fixture.backend) { _ in
            asked.withLock { $0 += 1 }
            throw error
        }
        let report = try await export(from: source, in: fixture)
        let isUnloaded = error == .unreachable || error == .signedOut
        #expect(report.messages == 5 && report.files == 0)
        #expect(report.missingFiles == (isUnloaded ? 0 : 5) && report.unloadedFiles == (isUnloaded ? 5 : 0))
        #expect(asked.withLock { $0 } == requests)
    }

    @Test("Single unreachable files do not keep others from being loaded")
    func singleFailures() async throws {
        let fixture = try await fixture(["a", "b", "c", "d", "e", "f", "g"])
        let content = try fixture.write(Data("x".utf8), as: "content")
        let source = PartialSource(backend: fixture.backend) { media in
            guard ["a.txt", "d.txt", "g.txt"].contains(media.name) else { throw ChatError.unreachable }
            return content
        }
        let report = try await export(from: source, in: fixture)
        #expect(report.files == 3 && report.missingFiles == 0 && report.unloadedFiles == 4)
    }

    @Test("Many files of one server that is gone do not keep those of others from being loaded")
    func deadServer() async throws {
        let fixture = try await fixture(["a", "b", "c", "d", "e", "f"], on: { $0 < "e" ? "gone" : "here" })
        let content = try fixture.write(Data("x".utf8), as: "content")
        let source = PartialSource(backend: fixture.backend) { media in
            guard media.uri.hasPrefix("mxc://here/") else { throw ChatError.unreachable }
            return content
        }
        let report = try await export(from: source, in: fixture)
        #expect(report.files == 2 && report.unloadedFiles == 4)
    }

    @Test("A server that limits the rate of requests is asked again after a while")
    func busyServer() async throws {
        let fixture = try await fixture(["a"])
        let content = try fixture.write(Data("x".utf8), as: "content")
        let asked = Mutex(0)
        let clock = ManualClock()
        let source = PartialSource(backend: fixture.backend) { _ in
            let number = asked.withLock { asked in
                asked += 1
                return asked
            }
            if number <= 2 { throw ChatError.busy }
            return content
        }
        let exporting = Task { try await export(from: source, clock: clock, in: fixture) }
        for delay in RequestRetry.delays.prefix(2) {
            await clock.waitForSleepers()
            clock.advance(by: delay)
        }
        let report = try await exporting.value
        #expect(report.files == 1 && report.missingFiles == 0)
    }

    @Test("A full disk ends the export")
    func fullDisk() async throws {
        let fixture = try await fixture(["a"])
        let source = PartialSource(backend: fixture.backend) { _ in throw ChatError.diskFull }
        await #expect(throws: ArchiveError.diskFull) { try await export(from: source, in: fixture) }
    }

    @Test("A file that a cache has removed meanwhile is missing, and the copy of a read-only file can be changed")
    func copies() async throws {
        let fixture = try await fixture(["a", "b"])
        let content = try fixture.write(Data("x".utf8), as: "content")
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: content.path)
        let source = PartialSource(backend: fixture.backend) { media in
            media.name == "a.txt" ? content : content.appendingPathExtension("gone")
        }
        let report = try await export(from: source, in: fixture)
        #expect(report.files == 1 && report.missingFiles == 1)
        let copy = report.folder.appending(path: "media/1-a.txt")
        let mode = try FileManager.default.attributesOfItem(atPath: copy.path)[.posixPermissions] as? Int
        #expect(mode == 0o644)
    }

    @Test("What an export left whose process ended is removed by the next one, after a day and unless it is in use")
    func leftovers() async throws {
        let fixture = try await fixture([])
        let folder = fixture.folder.path(".")
        let old = Fixtures.date.addingTimeInterval(-2 * 86400)
        func make(at date: Date, _ url: URL? = nil) throws -> URL {
            let url = url ?? folder.appending(path: ExportFolder.namePrefix + UUID().uuidString)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try Data("secret".utf8).write(to: url.appending(path: "messages.html"))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: url.path)
            return url
        }
        let leftover = try make(at: old)
        let recent = try make(at: Fixtures.date.addingTimeInterval(-3600))
        let other = try make(at: old, folder.appending(path: ExportFolder.namePrefix + "notes"))
        let running = try ExportFolder(in: folder)
        _ = try make(at: old, running.url)
        let source = PartialSource(backend: fixture.backend) { _ in throw ChatError.notFound }
        _ = try await export(from: source, in: fixture)
        func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }
        #expect(!exists(leftover))
        #expect(exists(recent) && exists(other) && exists(running.url))
    }

    @Test(arguments: [
        (String(repeating: "a", count: 300) + ".jpeg", String(repeating: "a", count: 115) + ".jpeg"),
        (
            String(repeating: "é", count: 59) + "aé" + String(repeating: "b", count: 9),
            String(repeating: "é", count: 59) + "a"
        ),
        (String(repeating: "a", count: 130) + ". and so on to the end", String(repeating: "a", count: 120)),
    ])
    func longNames(_ name: String, _ expected: String) {
        #expect(RoomExporter.fileName(name) == expected)
    }
}
