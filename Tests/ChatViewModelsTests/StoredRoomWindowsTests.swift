import ChatCore
import Testing

@testable import ChatViewModels

@Suite struct StoredRoomWindowsTests {
    private let garden = AccountRoom("@ann:example.org", RoomID("!garden\n\"1\":example.org"))
    private let notes = AccountRoom("", RoomID("notes"))

    @Test("The open windows, their order and their sizes are restored from the stored texts")
    func textsHoldEverything() {
        var windows = StoredRoomWindows()
        windows.noteOpened(garden)
        windows.noteOpened(notes)
        windows.setSize(.init(width: 500, height: 400, isMaximized: true), of: garden)
        let read = StoredRoomWindows(windows.texts)
        #expect(read == windows)
        #expect(read.open == [garden, notes])
        #expect(read.size(of: garden) == .init(width: 500, height: 400, isMaximized: true))
        #expect(read.size(of: notes) == nil)
        #expect(windows.texts.allSatisfy { !$0.contains("\n") }, "one line each")
    }

    @Test("A closed window is not restored, and opens in its former size")
    func closedWindowKeepsItsSize() {
        var windows = StoredRoomWindows()
        windows.noteOpened(notes)
        windows.setSize(.init(width: 500, height: 400), of: notes)
        windows.noteClosed(notes)
        #expect(windows.open.isEmpty)
        windows.noteOpened(notes)
        #expect(windows.open == [notes])
        #expect(windows.size(of: notes) == .init(width: 500, height: 400))
    }

    @Test("The sizes of the least recently closed windows are dropped, never an open window")
    func oldestClosedWindowsAreForgotten() {
        var windows = StoredRoomWindows()
        windows.noteOpened(notes)
        for number in 0...StoredRoomWindows.maxClosed {
            let room = AccountRoom("", RoomID("\(number)"))
            windows.noteOpened(room)
            windows.setSize(.init(width: 500, height: 400), of: room)
            windows.noteClosed(room)
        }
        #expect(windows.open == [notes])
        #expect(windows.texts.count == StoredRoomWindows.maxClosed + 1)
        #expect(windows.size(of: AccountRoom("", RoomID("0"))) == nil)
        #expect(windows.size(of: AccountRoom("", RoomID("1"))) != nil)
    }

    @Test("Texts of another version are ignored")
    func unknownTextsAreIgnored() {
        #expect(StoredRoomWindows(["", "{}", "[1]"]) == StoredRoomWindows())
    }
}
