import ChatCore
import ChatStore
import MessageMarkup

/// Converts the `@name` mentions of requests that an earlier version queued into mention marks.
struct EarlierRequests: Sendable {
    let store: ChatStore

    func converted(_ requests: [OutboxRequest]) async throws -> [OutboxRequest] {
        var requests = requests
        for index in requests.indices where requests[index].namesAreMentions {
            let names = MentionNames(try await members(of: requests[index].room))
            switch requests[index].action {
            case .send(var message):
                message.text = MessageMarkup.written(message.text, naming: names)
                requests[index].action = .send(message)
            case .edit(let target, let text):
                requests[index].action = .edit(target, MessageMarkup.written(text, naming: names))
            case .delete, .react, .unreadable: break
            }
            requests[index].namesAreMentions = false
        }
        return requests
    }

    /// Returns the current members, or none for a room that was lost, where no name can be resolved.
    private func members(of room: RoomID) async throws -> [Member] {
        do { return try await store.members(of: room).filter { !$0.hasLeft } } catch ChatError.notFound { return [] }
    }
}
