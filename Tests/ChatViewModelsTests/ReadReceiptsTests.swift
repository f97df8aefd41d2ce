import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

/// The readers whose avatars a message's row shows.
struct ReadReceiptsTests {
    private func receipts(_ count: Int) -> ReadReceipts {
        ReadReceipts(
            (0..<count).map {
                MessageItem.Reader(id: MemberID("@\($0):x"), name: "\($0)", readAt: Fixtures.date, avatar: nil)
            })
    }

    @Test("A count replaces the last avatar, so it never stands for a single reader")
    func count() {
        let cases: [(Int, visible: Int, more: String?)] = [
            (0, 0, nil), (1, 1, nil), (5, 5, nil), (6, 4, "+2"), (20, 4, "+16"),
        ]
        for (count, visible, more) in cases {
            #expect(receipts(count).visible.count == visible && receipts(count).moreLabel == more, "\(count)")
        }
        #expect(receipts(6).visible.map(\.name) == ["0", "1", "2", "3"], "the latest ones")
    }
}
