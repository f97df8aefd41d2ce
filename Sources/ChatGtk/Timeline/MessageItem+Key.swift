import ChatCore
import ChatViewModels

extension Message {
    /// Identifies the message also before it is sent: the event that replaces a local echo has another ID, but the same
    /// transaction.
    var lastingKey: String { transactionID?.rawValue ?? id.rawValue }
}

extension MessageItem {
    /// See ``Message/lastingKey``.
    var lastingKey: String { message.lastingKey }
}
