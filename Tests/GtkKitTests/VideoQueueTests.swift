import XCTest

@testable import GtkKit

final class VideoQueueTests: XCTestCase {
    func testQueueIsFirstInFirstOutAndWeighted() {
        var random = SystemRandomNumberGenerator()
        var (queue, plain): (VideoQueue<Int>, [Int]) = (VideoQueue(), [])
        for step in 0..<5000 {
            // Fill the queue first, then drain it.
            if Int.random(in: 0..<10, using: &random) < (step < 2500 ? 7 : 3) {
                queue.append(step, weight: step % 7)
                plain.append(step)
            } else {
                XCTAssertEqual(queue.popFirst(), plain.isEmpty ? nil : plain.removeFirst())
            }
            XCTAssertEqual(queue.count, plain.count)
            XCTAssertEqual(queue.isEmpty, plain.isEmpty)
            XCTAssertEqual(queue.first, plain.first)
            XCTAssertEqual(queue.last, plain.last)
            XCTAssertEqual(queue.weight, plain.reduce(0) { $0 + $1 % 7 })
        }
        queue.removeAll()
        XCTAssertTrue(queue.isEmpty)
        XCTAssertEqual(queue.weight, 0)
    }
}
