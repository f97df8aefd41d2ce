import ChatCore
import ChatViewModels
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
