import Foundation
import Testing

@testable import ComposerReplay

/// The article `ReplayFormat.md` of Composer.docc.
struct ReplayFormatTests {
    /// The names in the first column of the table with this head.
    private func names(under head: String) throws -> Set<String> {
        let project = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = project.appending(path: "Sources/Composer/Composer.docc/ReplayFormat.md")
        let lines = try String(contentsOf: article, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        let rows = lines.drop { !$0.hasPrefix("| \(head) |") }.dropFirst(2).prefix { $0.hasPrefix("| ") }
        return Set(
            rows.flatMap { row in
                row.split(separator: "|")[0].split(separator: "`").map(String.init).filter { $0.contains(/^\w+$/) }
            })
    }

    @Test("The article lists the driver's verbs")
    func articleListsTheVerbs() throws {
        let verbs = [
            ReplayPlayer.textVerbs, ReplayPlayer.inputVerbs, ReplayPlayer.modeVerbs, ReplayPlayer.windowVerbs,
            ReplayPlayer.completionVerbs,
        ]
        #expect(try names(under: "Verb") == Set(verbs.flatMap(\.keys)))
    }
}
