import Foundation

/// What the guide remembers of a room.
struct GuideMemory: Equatable, Codable, Sendable {
    /// The key of the room setting that stores it.
    static let setting = "guide.memory"

    /// Topics that were announced, in the greeting or later.
    var introduced: [GuideTopic.ID] = []
    /// Topics that were explained or tried, so they need not be suggested any more.
    var done: [GuideTopic.ID] = []
    /// The position of the newest message that was answered. A reaction is an answer too, and leaves no message behind.
    var answered: Int64?

    init(introduced: [GuideTopic.ID] = []) {
        self.introduced = introduced
    }

    /// Decodes a stored memory; it is empty if there is none or it cannot be decoded.
    init(encoded: String?) {
        let data = Data((encoded ?? "").utf8)
        // The only consequence of a lost memory is that the guide repeats itself.
        self = (try? JSONDecoder().decode(GuideMemory.self, from: data)) ?? GuideMemory()
    }

    func encoded() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Whether there is no topic left to announce.
    var hasIntroducedAll: Bool { Set(GuideTopic.ID.allCases).isSubset(of: introduced) }

    mutating func finish(_ topic: GuideTopic.ID) {
        if !done.contains(topic) { done.append(topic) }
    }
}

extension GuideMemory {
    /// Earlier versions did not store the answered position.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        introduced = try container.decode([GuideTopic.ID].self, forKey: .introduced)
        done = try container.decode([GuideTopic.ID].self, forKey: .done)
        answered = try container.decodeIfPresent(Int64.self, forKey: .answered)
    }
}
