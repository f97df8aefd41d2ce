public import ChatCore

/// The server operations that an outbox needs.
///
/// After ``DeliveryError/unreachable``, an attempt is repeated with the same transaction ID, even if the request
/// arrived and only the response was lost. The server deduplicates by transaction ID and repeats its response.
public protocol OutboxBackend: Sendable {
    /// Uploads a local file. The task is canceled if the message is deleted.
    /// - Parameter progress: receives the uploaded fraction, from 0 to 1; called on any thread.
    /// - Returns: the content URI of the file on the server.
    /// - Throws: ``DeliveryError``.
    func upload(
        _ file: MediaReference, of request: OutboxRequest, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> String

    /// Sends a request whose files are uploaded and whose target has a message ID.
    /// - Parameter request: its ``OutboxRequest/wasAttempted`` says whether an earlier run of the process may have
    ///   attempted it: the backend knows of this one itself.
    /// - Returns: the ID of the sent message; ignored for other requests.
    /// - Throws: ``DeliveryError``.
    func deliver(_ request: OutboxRequest) async throws -> MessageID?
}

/// Why an attempt failed.
public enum DeliveryError: Error, Equatable, Sendable {
    /// No response arrived, or one unrelated to the request, such as a gateway error.
    case unreachable
    /// The server limits the rate of requests: no room may send before this delay has passed.
    case busy(retryAfter: Duration)
    /// The server permanently rejects the request. The reason is technical and contains no message text.
    case rejected(reason: String)
}
