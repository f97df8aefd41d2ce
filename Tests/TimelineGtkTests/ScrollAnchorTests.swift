import Testing

@testable import TimelineGtk

@Suite struct ScrollAnchorTests {
    private static let anchors: [ScrollAnchor] = [.end, .row(5, .start, -3), .row(5, .end, 7), .center(5)]

    @Test func anchorDeterminesTheRowPosition() {
        #expect(ScrollAnchor.end.top(height: 40, page: 400) == 360)
        #expect(ScrollAnchor.center(5).top(height: 40, page: 400) == 180)
        #expect(ScrollAnchor.row(5, .start, -3).top(height: 40, page: 400) == -3)
        #expect(ScrollAnchor.row(5, .end, 7).top(height: 40, page: 400) == 367)
    }

    @Test("A rewrapped row keeps the same fraction out of view")
    func rewrappedRowKeepsItsHiddenFraction() {
        let above = ScrollAnchor.row(5, .start, -10).top(height: 80, heightBefore: 40, page: 400)
        #expect(above == -20)
        let below = ScrollAnchor.row(5, .end, 10).top(height: 80, heightBefore: 40, page: 400)
        #expect(below == 400 + 20 - 80)
        let whole = ScrollAnchor.row(5, .start, 10).top(height: 80, heightBefore: 40, page: 400)
        #expect(whole == 10)
        let empty = ScrollAnchor.row(5, .start, -10).top(height: 80, heightBefore: 0, page: 400)
        #expect(empty == -10)
    }

    @Test(arguments: anchors) func insertedAndRemovedRowsShiftTheAnchor(_ anchor: ScrollAnchor) throws {
        #expect(anchor.inserting(3, at: 6) == anchor)
        #expect(anchor.inserting(3, at: 5) == (anchor == .end ? .end : anchor.on(8)))
        #expect(anchor.inserting(3, at: 0) == (anchor == .end ? .end : anchor.on(8)))
        #expect(anchor.removing(6..<9) == anchor)
        #expect(anchor.removing(0..<2) == (anchor == .end ? .end : anchor.on(3)))
        #expect(anchor.removing(4..<6) == (anchor == .end ? .end : nil))
        let inserted = anchor.inserting(3, at: 2)
        #expect(inserted.removing(2..<5) == anchor)
    }

    @Test(arguments: anchors) func movingBackAndForthChangesNothing(_ anchor: ScrollAnchor) {
        let back = anchor.moved(by: 12, among: 9).moved(by: -12, among: 9)
        #expect(back == (anchor == .end ? .row(8, .end, 0) : anchor))
    }

    @Test("The last-row anchor stays on the last row, whatever the row count")
    func lastRowAnchorStaysLast() {
        let anchor = ScrollAnchor.row(ScrollAnchor.lastRow, .end, 0)
        #expect(anchor.inserting(3, at: 0) == anchor)
        #expect(anchor.removing(0..<3) == anchor)
        #expect(anchor.clamped(to: 4) == anchor)
        #expect(anchor.row(among: 4) == 3)
        #expect(anchor.row(among: 0) == 0)
    }

    @Test func clampingKeepsTheAnchorOnAnExistingRow() {
        #expect(ScrollAnchor.center(5).clamped(to: 4) == .center(3))
        #expect(ScrollAnchor.row(5, .start, 2).clamped(to: 0) == .row(0, .start, 2))
        #expect(ScrollAnchor.end.clamped(to: 0) == .end)
    }
}
