public import ChatCore

/// The server, as far as an outbox needs it.
///
/// An attempt may be repeated with the same transaction after any ``DeliveryError/unreachable``, also after one that
/// came through and whose answer was lost: the server carries out a transaction once and answers the same again.
public protocol OutboxBackend: Sendable {
    /// Uploads a file that is kept on this computer. The task is cancelled when the message is taken back.
    /// - Parameter progress: told of the part that is sent, from 0 to 1; from any thread.
    /// - Returns: the URI under which the server has it.
    /// - Throws: ``DeliveryError``.
    func upload(
        _ file: MediaReference, of request: OutboxRequest, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> String

    /// Carries out a request: its files are uploaded, and its target is a message that the server knows.
    /// - Returns: the identifier of the message that was sent; of no meaning for other requests.
    /// - Throws: ``DeliveryError``.
    func deliver(_ request: OutboxRequest) async throws -> MessageID?
}

/// Why an attempt did not succeed.
public enum DeliveryError: Error, Equatable, Sendable {
    /// No answer came, or one that says nothing of the request, such as a gateway's.
    case unreachable
    /// The server asks to be left alone for that long, by all rooms.
    case busy(retryAfter: Duration)
    /// The server will never accept it as it is. The reason is technical and holds no message text.
    case rejected(reason: String)
}
