import Foundation

/// What the guide remembers of a room.
struct GuideMemory: Equatable, Codable, Sendable {
    /// The setting of the room that keeps it.
    static let setting = "guide.memory"

    /// Topics that were announced, in a greeting or since.
    var introduced: [GuideTopic.ID] = []
    /// Topics that were explained or that the user tried, and that need no further invitation.
    var done: [GuideTopic.ID] = []
    /// How many answers it gave: what varies, varies by this.
    var replies = 0

    init(introduced: [GuideTopic.ID] = []) {
        self.introduced = introduced
    }

    /// What was remembered; nothing if there is none or it is unreadable.
    init(encoded: String?) {
        let data = Data((encoded ?? "").utf8)
        self = (try? JSONDecoder().decode(GuideMemory.self, from: data)) ?? GuideMemory()
    }

    var encoded: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    mutating func finish(_ topic: GuideTopic.ID) {
        if !done.contains(topic) { done.append(topic) }
    }
}
