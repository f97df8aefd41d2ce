import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import Testing
import ToolSupport

@testable import ChatOutbox
@testable import MatrixBackend

/// Changes to messages show immediately and eventually match the server, whatever the server, the sync and the
/// user's other clients do meanwhile.
@Suite(.timeLimit(.minutes(10))) struct PendingChangesTests {
    @Test(arguments: 1...20) func timelineMatchesTheOracleInAnyOrder(seed: Int) async throws {
        var model = try await PendingChangesModel(seed: UInt64(seed))
        for step in 0..<40 {
            try await model.act()
            #expect(try await model.displayed() == model.expected(), "seed \(seed), step \(step)")
        }
        try await model.deliverAll()
        #expect(try await model.displayed() == model.expected(), "seed \(seed), at the end")
    }

    @Test func rejectionIsShownUntilDiscarded() async throws {
        let room = RoomID("!room")
        var book = PendingChanges()
        let message = Fixtures.message(1, in: room.rawValue, text: "old")
        let request = OutboxRequest(
            id: TransactionID("e"), room: room,
            action: .edit(.message(message.id), WrittenText("new")), queuedAt: Fixtures.date)
        var item = OutboxItem(request: request, state: .waiting, isOverdue: false)
        #expect(book.update([item], in: room) == [.message(message.id)])
        var displayed = book.displayed(message, by: message.sender)
        #expect(displayed.text == "new" && displayed.editedAt == Fixtures.date)
        #expect(displayed.pendingChange == PendingChange(transaction: request.id, kind: .edit))
        item.state = .sending
        #expect(book.update([item], in: room).isEmpty, "it looks as before")
        item.state = .failed(reason: "403")
        #expect(book.update([item], in: room) == [.message(message.id)])
        displayed = book.displayed(message, by: message.sender)
        #expect(displayed.text == "old" && displayed.editedAt == nil)
        #expect(
            displayed.pendingChange
                == PendingChange(
                    transaction: request.id, kind: .edit, isRejected: true, rejectedText: WrittenText("new"),
                    failure: .notPermitted))
        #expect(book.update([], in: room) == [.message(message.id)])
        #expect(book.displayed(message, by: message.sender) == message)
    }

    @Test("The text of a rejected edit can be had until another edit has taken its place, whatever came after it")
    func rejectedText() {
        let room = RoomID("!room")
        var book = PendingChanges()
        let message = Fixtures.message(1, in: room.rawValue, text: "old")
        func item(_ id: String, _ action: OutboxAction, _ state: OutboxItem.State) -> OutboxItem {
            OutboxItem(
                request: OutboxRequest(id: TransactionID(id), room: room, action: action, queuedAt: Fixtures.date),
                state: state, isOverdue: false)
        }
        let target = OutboxTarget.message(message.id)
        let edit = item("e", .edit(target, WrittenText("new")), .failed(reason: "403"))
        let reaction = item("r", .react(target, text: "❤️", isGiven: true), .waiting)
        _ = book.update([edit, reaction], in: room)
        let change = book.displayed(message, by: message.sender).pendingChange
        #expect(change?.kind == .reaction && change?.rejectedText == WrittenText("new"))
        _ = book.update([edit, item("f", .edit(target, WrittenText("newer")), .waiting)], in: room)
        #expect(book.displayed(message, by: message.sender).pendingChange?.rejectedText == nil)
    }
}
