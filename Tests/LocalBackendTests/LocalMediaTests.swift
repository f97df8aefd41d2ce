import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import Testing

@testable import LocalBackend

@Suite("Files on this computer") struct LocalMediaTests {
    /// Stores a file and backdates it far enough for a sweep.
    private func storeFile(_ text: String, _ harness: LocalBackendHarness) async throws -> MediaReference {
        try await harness.backend.storeMedia(.data(Data(text.utf8)), named: text, type: "text/plain") { _ in }
    }

    private func isStored(_ media: MediaReference, _ harness: LocalBackendHarness) async -> Bool {
        // An error is the expected result for a missing file.
        (try? await harness.backend.content(of: media)) != nil
    }

    @Test("SLK-39: files of messages and drafts are retained; unreferenced files are removed after some days")
    func unreferencedFilesAreSwept() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.notes)
        let sent = try await storeFile("sent", harness)
        let drafted = try await storeFile("drafted", harness)
        let dropped = try await storeFile("dropped", harness)
        let deleted = try await storeFile("deleted", harness)
        try await harness.backend.send(
            WrittenMessage("", files: [sent]), as: TransactionID("1"), to: room)
        let message = try await harness.backend.send(
            WrittenMessage("", files: [deleted]), as: TransactionID("2"), to: room)
        try await harness.backend.delete(message.id, in: room)
        let draft = SavedDraft(data: Data(#"{"attachments":[{"source":"\#(drafted.uri)"}]}"#.utf8), preview: "")
        try await harness.backend.saveDraft(draft, in: room)

        // The fixtures' clock is behind the file times, so a sweep considers the files too young.
        await harness.backend.media.sweep(knownBy: harness.store, at: Fixtures.date)
        #expect(await isStored(dropped, harness))
        let known = try await harness.store.mediaReferences(scheme: "media:")
        #expect(known == [sent.uri, drafted.uri])
        let count = try await harness.backend.media.archive.sweep(before: .distantFuture) {
            known.contains("media:" + $0)
        }
        #expect(count == 2)
        #expect(await isStored(sent, harness))
        #expect(await isStored(drafted, harness))
        #expect(await !isStored(dropped, harness))
        #expect(await !isStored(deleted, harness))
    }

    @Test("SLK-39: a program that stays open removes unreferenced files once a day")
    func filesAreSweptDaily() async throws {
        let (folder, clock) = (TemporaryFolder(), ManualClock())
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await LocalBackend.start(
            over: store, ownDisplayName: "Robin", createsFirstRooms: false, clock: ManualClock(),
            now: { DailySweep.date }, upkeepClock: clock)
        try await DailySweep.check(backend, on: clock)
        await backend.close()
        await store.close()
    }

    @Test("A file that undo can bring back is kept as long as it can")
    func filesOfUndoStepsAreRetained() async throws {
        let harness = try await LocalBackendHarness()
        let undone = try await storeFile("brought back", harness)
        let (uri, later) = (undone.uri, Date(timeIntervalSinceNow: 365 * 86_400))
        do {
            let registration = MediaInUse.shared.register { Set([uri]) }
            await harness.backend.media.sweep(knownBy: harness.store, at: later)
            #expect(await isStored(undone, harness))
            withExtendedLifetime(registration) {}
        }
        await harness.backend.media.sweep(knownBy: harness.store, at: later)
        #expect(await !isStored(undone, harness))
    }
}
