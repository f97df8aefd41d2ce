import ChatTestSupport
import Composer
import Testing

@testable import ComposerSessions

@MainActor @Suite(.timeLimit(.minutes(10))) struct CompletionDirectoryTests {
    private final class Members: Sendable {
        let entities = ["Ann Lee", "Dean"].map { CompletionEntity(id: $0, name: $0) }
    }

    private final class Weak {
        weak var members: Members?
    }

    private func fill(_ directory: CompletionDirectory, _ noted: Weak) {
        let members = Members()
        noted.members = members
        directory.set { CompletionIndex(members.entities) }
    }

    @Test("Nothing of what is cleared stays in memory or is found, until there are other entities")
    func clearing() async throws {
        let (directory, noted) = (CompletionDirectory(), Weak())
        fill(directory, noted)
        try await directory.update()
        #expect(directory.matches(of: "", limit: 9)?.map(\.id) == ["Ann Lee", "Dean"])
        directory.clear()
        #expect(directory.matches(of: "", limit: 9) == [] && directory.isUpToDate)
        // The task that has built the index is ending.
        while noted.members != nil { await Task.yield() }
        fill(directory, noted)
        #expect(!directory.isUpToDate)
        try await directory.update()
        #expect(directory.matches(of: "", limit: 9)?.count == 2)
    }

    @Test("An index that is built meanwhile is discarded")
    func clearingDuringABuild() async throws {
        let (directory, gate) = (CompletionDirectory(), Gate())
        directory.set {
            await gate.pass()
            return CompletionIndex([CompletionEntity(id: "a", name: "Ann")])
        }
        let building = Task { try await directory.update() }
        await eventually { gate.waiting == 1 }
        directory.clear()
        gate.open()
        try await building.value
        #expect(directory.matches(of: "", limit: 9) == [] && directory.isUpToDate)
    }
}
