import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import Testing

/// The texts about a store that is damaged or cannot be opened.
@Suite struct StoreDamageTests {
    @Test("The text about an unreadable store has its location and the finding")
    func unreadable() {
        let damage = StoreDamage.unreadable(reason: "malformed page 3", folder: "/home/ann/store")
        #expect(damage.heading(.untranslated) == "Could Not Open Message History")
        #expect(damage.body(.untranslated).hasSuffix("is renamed and kept.\n\n/home/ann/store\n\nmalformed page 3"))
    }

    @Test("The text about a repair says what was recovered and where the damaged folder is")
    func repaired() {
        let damage = StoreDamage.repaired(rooms: 1, messages: 20, unsentTexts: 0, setAside: "/home/ann/store-damaged")
        #expect(
            damage.body(.untranslated)
                == "Recovered:\n\n20 messages\n1 room\n0 unsent messages\n\n"
                + "The damaged folder was moved to:\n/home/ann/store-damaged")
        let nothing = StoreDamage.repaired(rooms: 0, messages: 0, unsentTexts: 0, setAside: "/x")
        #expect(
            nothing.body(.untranslated)
                == "No messages could be recovered.\n\nThe damaged folder was moved to:\n/x")
        // A single unsent text is worth mentioning even without anything else.
        let text = StoreDamage.repaired(rooms: 0, messages: 0, unsentTexts: 1, setAside: "/x")
        #expect(text.body(.untranslated).contains("1 unsent message\n"))
    }

    @Test("The text about repaired accounts names each account and where its damaged folder is")
    func accountsRepaired() {
        let damage = StoreDamage.accountsRepaired([
            AccountRepair(account: "Ann", setAside: "/data/a/store-damaged-1"),
            AccountRepair(account: "Bo", setAside: "/data/b/store-damaged-2"),
        ])
        #expect(damage.heading(.untranslated) == "Message History Recovered")
        let body = damage.body(.untranslated)
        #expect(body.contains("of Ann was damaged") && body.contains("of Bo was damaged"))
        #expect(body.contains("Some older messages may be missing."))
        #expect(
            body.contains("moved to:\n/data/a/store-damaged-1\n\n")
                && body.hasSuffix("moved to:\n/data/b/store-damaged-2"))
    }

    @Test("The repairs of an account are found by what they have left beside its store")
    func repairsAreFound() async throws {
        let folder = TemporaryFolder()
        let store = folder.path("account/store")
        #expect(await AccountRepair.all(of: "Ann", store: store).isEmpty)
        let names = ["store", "store-damaged-20260102-030405", "store-damaged-20251231-000000", "store-media", "other"]
        for name in names {
            try FileManager.default.createDirectory(
                at: folder.path("account/" + name), withIntermediateDirectories: true)
        }
        let repairs = await AccountRepair.all(of: "Ann", store: store)
        #expect(repairs.map(\.id) == ["account/\(names[2])", "account/\(names[1])"])
        #expect(repairs.map(\.setAside) == [names[2], names[1]].map { folder.path("account/" + $0).path })
        #expect(repairs.map(\.account) == ["Ann", "Ann"])
    }

    @Test("The text about damage found in use ends with the finding")
    func found() {
        #expect(StoreDamage.found(reason: "row 7 missing").body(.untranslated).hasSuffix("are safe.\n\nrow 7 missing"))
    }

    @Test(
        "The text about a failed start names the folder",
        arguments: [
            (StartFailure.unwritableFolder("/f"), "Cannot Write to Folder"),
            (.diskFull("/f"), "Disk Full"), (.folderInUse("/f"), "Message History Is in Use"),
            (.newerVersion("/f"), "Newer Version Required"),
        ])
    func startFailures(_ failure: StartFailure, _ heading: String) {
        #expect(failure.heading(.untranslated) == heading)
        #expect(failure.body(.untranslated).hasSuffix(":\n\n/f"))
    }

    @Test("Any other failed start shows its reason as a detail")
    func otherFailures() {
        #expect(StartFailure.other(reason: "no such table").heading(.untranslated) == "Could Not Start Parlance")
        #expect(StartFailure.other(reason: "no such table").body(.untranslated) == "Details: no such table")
    }
}
