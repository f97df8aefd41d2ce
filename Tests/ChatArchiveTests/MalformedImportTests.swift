import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import ChatArchive

/// Files that are not exports, or malformed ones: each gives a specific error and creates no room.
@Suite(.timeLimit(.minutes(10))) struct MalformedImportTests {
    private func expectNothing(
        of data: Data, as name: String, in fixture: ArchiveFixture, _ expected: ArchiveError? = nil
    ) async throws {
        let url = try fixture.write(data, as: name)
        do {
            _ = try await fixture.archive.importConversations(from: url) { _ in }
            Issue.record("\(name) was taken")
        } catch let error as ArchiveError {
            if let expected { #expect(error == expected) }
        }
        #expect(try await fixture.roomNames() == ["Notes", "Welcome"])
        #expect(try await fixture.store.stagedRooms().isEmpty)
    }

    @Test(arguments: ["telegram/result.json", "telegram-all.json", "element.json"])
    func truncatedFilesLeaveNoRooms(_ name: String) async throws {
        let fixture = try await ArchiveFixture()
        let whole = try Data(contentsOf: ArchiveFixture.export(name))
        let end = whole.count - 3
        for length in stride(from: whole.count / 3, to: end, by: 211) {
            try await expectNothing(of: whole.prefix(length), as: "cut.json", in: fixture, .truncated)
        }
    }

    @Test func truncatedArchivesLeaveNoRooms() async throws {
        let fixture = try await ArchiveFixture()
        let whole = try Data(contentsOf: ArchiveFixture.export("slack.zip"))
        for length in stride(from: 4, to: whole.count - 30, by: 131) {
            try await expectNothing(of: whole.prefix(length), as: "cut.zip", in: fixture)
        }
    }

    @Test func nestingDepthIsBounded() async throws {
        let fixture = try await ArchiveFixture()
        let deep = String(repeating: "[", count: 100_000)
        let start = #"{"name":"x","type":"y","messages":["#
        try await expectNothing(of: Data((start + deep).utf8), as: "deep.json", in: fixture, .tooDeep)
        let objects = String(repeating: #"{"a":"#, count: 100_000)
        try await expectNothing(of: Data((start + objects).utf8), as: "deep.json", in: fixture, .tooDeep)
        let closed = start + String(repeating: "[", count: 400) + String(repeating: "]", count: 400) + "]}"
        try await expectNothing(of: Data(closed.utf8), as: "deep.json", in: fixture, .empty)
    }

    @Test func sizeOfASingleValueIsBounded() async throws {
        let fixture = try await ArchiveFixture()
        var data = Data(#"{"name":"x","type":"y","messages":[{"text":""#.utf8)
        data.append(Data(repeating: 0x61, count: JSONStream.maxBytes + 100_000))
        try await expectNothing(of: data, as: "long.json", in: fixture, .tooLong(limit: JSONStream.maxBytes))
        let line = Data("31.12.19, 23:58 - A: ".utf8) + Data(repeating: 0x61, count: ChatLimits.messageBytes + 100_000)
        try await expectNothing(of: line, as: "long.txt", in: fixture, .tooLong(limit: ChatLimits.messageBytes))
    }

    /// Empty containers hold nothing but still use memory.
    @Test(arguments: ["[],", "{},", #"{"a":{}},"#])
    func emptyContainersCountTowardTheSizeLimit(_ part: String) async throws {
        let receiver = DiscardingReceiver()
        let stream = JSONStream(receiver: receiver)
        try stream.feed(Data("[".utf8))
        let parts = Data(String(repeating: part, count: 10_000).utf8)
        var fed = 0
        #expect(throws: JSONError.tooLong(limit: JSONStream.maxBytes)) {
            while fed < 16 << 20 {
                try stream.feed(parts)
                fed += parts.count
            }
        }
        #expect(fed <= JSONStream.maxBytes / 32 * part.utf8.count)
        let fixture = try await ArchiveFixture()
        let many = String(repeating: part, count: 2 << 20).dropLast()
        let document = #"{"name":"x","type":"y","messages":[["# + many + "]]}"
        try await expectNothing(
            of: Data(document.utf8), as: "empty.json", in: fixture, .tooLong(limit: JSONStream.maxBytes))
    }

    @Test func unknownFormatsAreRejected() async throws {
        let fixture = try await ArchiveFixture()
        try await expectNothing(of: Data("hello".utf8), as: "a.txt", in: fixture, .unknownFormat)
        try await expectNothing(of: Data(), as: "a.txt", in: fixture, .empty)
        try await expectNothing(of: Data(#"{"some":"thing"}"#.utf8), as: "a.json", in: fixture, .unknownFormat)
        try await expectNothing(of: Data(#"{"messages":5}"#.utf8), as: "a.json", in: fixture, .empty)
        try await expectNothing(of: Data(#"{"messages":[]}"#.utf8), as: "a.json", in: fixture, .empty)
        try await expectNothing(of: Data(#"{"messages":[}"#.utf8), as: "a.json", in: fixture)
        try await expectNothing(of: Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 37) }), as: "a", in: fixture)
        await #expect(throws: ArchiveError.self) {
            _ = try await fixture.archive.importConversations(from: fixture.folder.path("none")) { _ in }
        }
    }

    @Test func cancelingAnImportLeavesNoRooms() async throws {
        let fixture = try await ArchiveFixture()
        var text = ""
        for number in 0..<20_000 { text += "31.12.19, 23:58 - Ann: message \(number)\n" }
        let url = try fixture.write(Data(text.utf8), as: "long.txt")
        let archive = fixture.archive
        let importing = Mutex<Task<ImportReport, any Error>?>(nil)
        let task = Task {
            try await archive.importConversations(from: url) { progress in
                if progress.messages >= 4000 { importing.withLock { $0?.cancel() } }
            }
        }
        importing.withLock { $0 = task }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await fixture.roomNames() == ["Notes", "Welcome"])
        #expect(try await fixture.store.stagedRooms().isEmpty)
    }

    /// Random byte changes in every sample: nothing crashes, and a rejected import leaves no visible room.
    @Test(arguments: ["telegram/result.json", "element.json", "whatsapp-ios-us.txt", "slack.zip"])
    func randomlyCorruptedExportsAreReadOrRejected(_ name: String) async throws {
        let folder = TemporaryFolder()
        let whole = try Data(contentsOf: ArchiveFixture.export(name))
        var random = SystemRandomNumberGenerator()
        for _ in 0..<150 {
            var data = whole
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                data[Int.random(in: 0..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let url = folder.path("changed-" + name.replacing("/", with: "-"))
            try data.write(to: url)
            let service = FakeImportService()
            let archive = RoomArchive(source: FakeSource(), destination: service, zone: ArchiveFixture.zone)
            do {
                let report = try await archive.importConversations(from: url) { _ in }
                #expect(report.messages > 0)
                let staged = await service.staged
                #expect(staged.isEmpty)
            } catch is ArchiveError {
                let (shown, staged) = await (service.shown, service.staged)
                #expect(shown.isEmpty && staged.isEmpty)
            }
        }
    }
}

/// Enters no container and discards all values.
private final class DiscardingReceiver: JSONReceiver {
    func entersContainer(at path: [JSONStep]) -> Bool { false }
    func receive(_ value: JSONValue, at path: [JSONStep]) {}
    func leaveContainer(at path: [JSONStep]) {}
}
