import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit

final class MemoryTests: GtkTestCase {
    func testForgottenCodeRunsAgain() throws {
        try onMain {
            let before = try Self.mappedCode()
            var after = before
            var isDone = false
            Task {
                await Memory.trim()
                await Memory.forgetCode()
                // Code that runs from here on is mapped again: a part of what the tests have used.
                after = try Self.mappedCode()
                isDone = true
            }
            XCTAssertTrue(MainLoop.pump { isDone })
            XCTAssertGreaterThan(before, 0)
            XCTAssertLessThan(after, before / 2, "kilobytes")
            XCTAssertEqual(Label("Still here").text, "Still here")
        }
    }

    /// The resident kilobytes of the program's executable mappings.
    private static func mappedCode() throws -> Int {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        var isCode = false
        var sum = 0
        for line in try String(contentsOfFile: "/proc/self/smaps", encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ")
            // Each mapping starts with a line with its addresses, followed by lines `Name: size kB`.
            if words[0].hasSuffix(":") {
                if isCode, words[0] == "Rss:" { sum += Int(words[1]) ?? 0 }
            } else {
                isCode = words[1] == "r-xp" && line.hasSuffix(program)
            }
        }
        return sum
    }
}
