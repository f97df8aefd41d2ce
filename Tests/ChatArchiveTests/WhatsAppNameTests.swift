import ChatCore
import Foundation
import Testing

@testable import ChatArchive

@Suite struct WhatsAppNameTests {
    @Test(arguments: [
        ("WhatsApp Chat with Ann Lee", "Ann Lee"), ("WhatsApp Chat - Ann", "Ann"), ("WhatsApp-Chat mit Ann (2)", "Ann"),
        ("Chat de WhatsApp con Los de siempre", "Los de siempre"), ("Discussion WhatsApp avec Léa", "Léa"),
        ("Holiday", "Holiday"), ("_chat", nil), ("_chat (3)", nil), ("WhatsApp Chat - ", nil),
    ])
    func derivesChatNameFromFileName(file: String, name: String?) {
        #expect(WhatsAppName.chat(named: file) == name)
    }

    @Test(arguments: [
        ("_chat.txt", true), ("WhatsApp-samtale med Ann.txt", true), ("Chat de WhatsApp con Ann.txt", true),
        ("notes.txt", false), ("WhatsApp Chat with Ann.zip", false), ("export.json", false),
    ])
    func recognizesChatFilesByName(file: String, isChat: Bool) {
        #expect(WhatsAppName.isChat(file: file) == isChat)
    }

    @Test func derivesChatNameOnlyFromChatFolders() {
        #expect(WhatsAppName.chat(inFolder: "WhatsApp Chat - Ann") == "Ann")
        #expect(WhatsAppName.chat(inFolder: "Downloads") == nil)
    }

    /// Outside its archive and folder, the file has no name from which to derive the room's.
    @Test func unnamedChatIsNamedAfterItsParticipants() throws {
        let parser = WhatsAppParser(name: "", order: .dayFirst)
        try parser.feed(Data("1/2/20, 10:00 - Ann: Hi\n1/2/20, 10:01 - Bo: Ho\n1/2/20, 10:02 - Ann: Hm\n".utf8))
        try parser.finish()
        let events = parser.drainEvents()
        guard case .renamed(let name)? = events.last else {
            Issue.record("not renamed")
            return
        }
        #expect(name == "Ann, Bo")
    }
}
