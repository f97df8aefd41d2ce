import ChatStore
import ChatViewModels

/// Keeps the replies of ``UnsentReplies`` in the store of this computer: those of their accounts are not open.
final class UnsentReplyStorage {
    let replies: UnsentReplies
    private let writes = DeliveryQueue()

    init(_ store: ChatStore) async throws {
        let writes = writes
        replies = UnsentReplies(Self.split(try await store.setting(Self.key))) { texts in
            writes.add {
                do {
                    try await store.setSetting(texts.joined(separator: "\n"), for: Self.key)
                } catch {
                    // They stay in memory, and the next change stores them too.
                    StandardError.write("replies that wait for their account could not be stored")
                }
            }
        }
    }

    /// Waits for pending writes.
    func flush() async { await writes.finish() }

    private static func split(_ stored: String?) -> [String] { (stored ?? "").split(separator: "\n").map(String.init) }

    private nonisolated static let key = "notifications.unsent-replies"
}
