import ChatCore

/// An account's keywords, stored as a server would.
final class KeywordService: NotificationSettingsService, @unchecked Sendable {
    private let stream = AsyncStream.makeStream(of: NotificationSettings.self)
    private var keywords: [String] = []
    var fails = false

    func publish(_ keywords: [String]) {
        self.keywords = keywords
        stream.continuation.yield(NotificationSettings(keywords: keywords))
    }

    func notificationSettings() -> AsyncStream<NotificationSettings> { stream.stream }

    func addKeyword(_ keyword: String) async throws {
        if fails { throw ChatError.notPermitted }
        publish(keywords + [keyword])
    }

    func removeKeyword(_ keyword: String) async throws {
        if fails { throw ChatError.notPermitted }
        publish(keywords.filter { $0 != keyword })
    }
}
