import ChatCore

extension VerificationViewModel.State {
    /// A page of the dialog.
    public nonisolated enum Page: Equatable, Sendable {
        case request, progress, emoji, numbers, ended
    }

    /// The icon above the page's title. The raw values are icon names.
    public nonisolated enum Icon: String, Equatable, Sendable {
        case request = "parlance-verified-symbolic"
        case success = "parlance-confirmed-symbolic"
        case failure = "parlance-warning-symbolic"
    }

    public nonisolated var page: Page {
        switch verification.phase {
        case .requested: .request
        case .waiting, .preparing, .confirming: .progress
        case .comparing(let emoji, _): showsNumbers || emoji.isEmpty ? .numbers : .emoji
        case .done, .canceled: .ended
        }
    }

    public nonisolated var isComparing: Bool { page == .emoji || page == .numbers }
    /// Whether both emoji and numbers are available to compare.
    public nonisolated var canChangeWay: Bool {
        guard case .comparing(let emoji, let numbers) = verification.phase else { return false }
        return !emoji.isEmpty && !numbers.isEmpty
    }

    /// Whether the verification goes on only once the server can be reached.
    nonisolated var waitsForServer: Bool { page == .progress && verification.isUnsent }

    /// Whether the dialog waits for the other side or for an answer to be sent.
    public nonisolated var isWaiting: Bool { page == .progress || isBusy }

    public nonisolated var icon: Icon? {
        switch verification.phase {
        case .requested: .request
        case .done: .success
        case .canceled(.mismatch), .canceled(.failed), .canceled(.unconfirmedHere), .canceled(.unconfirmedThere),
            .canceled(.keyMissing), .canceled(.undeliverable), .canceled(.signatureRejected):
            .failure
        case .canceled, .waiting, .preparing, .confirming, .comparing: nil
        }
    }
}
