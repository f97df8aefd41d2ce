import Foundation

/// What the guide remembers of a room.
struct GuideMemory: Equatable, Codable, Sendable {
    /// The key of the room setting that stores it.
    static let setting = "guide.memory"

    /// Topics that were announced, in the greeting or later.
    var introduced: [GuideTopic.ID] = []
    /// Topics that were explained or tried, and need no suggestion any more.
    var done: [GuideTopic.ID] = []
    /// The number of replies so far, which selects among alternative phrases.
    var replies = 0

    init(introduced: [GuideTopic.ID] = []) {
        self.introduced = introduced
    }

    /// Decodes a stored memory; it is empty if there is none or it cannot be decoded.
    init(encoded: String?) {
        let data = Data((encoded ?? "").utf8)
        // A guide that has forgotten what it said says it again, no more.
        self = (try? JSONDecoder().decode(GuideMemory.self, from: data)) ?? GuideMemory()
    }

    func encoded() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    mutating func finish(_ topic: GuideTopic.ID) {
        if !done.contains(topic) { done.append(topic) }
    }
}
