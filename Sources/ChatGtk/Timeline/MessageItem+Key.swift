import ChatCore
import ChatViewModels

extension MessageItem {
    /// Identifies the message also before it is sent: the event that replaces a local echo has another ID, but the same
    /// transaction.
    var lastingKey: String { message.transactionID?.rawValue ?? id.rawValue }
}
