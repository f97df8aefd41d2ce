public import ChatCore
import ComposerSessions
public import Observation

/// The previews of links in one room. Each is requested once, and after a failure again when it is shown again.
@Observable
public final class LinkPreviews {
    /// The cache is emptied when it reaches this size.
    private static let maxCount = 500
    /// The failures of one link in succession.
    private struct Failure {
        var count: Int
        /// When the last one happened.
        var time: Duration
    }

    /// How long no other link of a host is requested again, and a link that has failed once. With each failure in
    /// succession, the time doubles for that link.
    private static let retryInterval = Duration.seconds(60)
    private static let maxRetryInterval = Duration.seconds(3600)

    @ObservationIgnored private let room: RoomID
    @ObservationIgnored private let service: any RoomCapabilityService
    /// A `nil` value means that a link has no preview.
    private var cache: [String: LinkPreview?] = [:]
    @ObservationIgnored private var requested: Set<String> = []
    /// The links that count as having no preview because their last request failed.
    @ObservationIgnored private var failed: [String: Failure] = [:]
    /// When a link of a host last failed or was requested again.
    @ObservationIgnored private var attempts: [String: Duration] = [:]
    @ObservationIgnored private let time: Timekeeper
    /// Whether the server can be reached. Otherwise, no link is requested again.
    @ObservationIgnored var isOnline = true

    /// Returns `nil` if the backend does not support link previews.
    init?(room: RoomID, service: any RoomCapabilityService, time: Timekeeper = .continuous) {
        guard service.capabilities.contains(.linkPreviews) else { return nil }
        self.room = room
        self.service = service
        self.time = time
    }

    /// The preview of a link: `nil` if it is not known, `.some(nil)` if the link has none.
    public func cachedPreview(of address: String) -> LinkPreview?? { cache[address] }

    /// Requests the preview of a link that is shown, unless it is known or already requested. It arrives in
    /// ``cachedPreview(of:)``.
    public func request(_ address: String) {
        guard cache[address] == nil || mayRetry(address), requested.insert(address).inserted else { return }
        Task { [service, room] in
            do {
                store(try await service.linkPreview(of: address, in: room), of: address)
            } catch {
                // It counts as having none until it may be requested again.
                let count = (failed[address]?.count ?? 0) + 1
                store(nil, of: address)
                failed[address] = Failure(count: count, time: time.now())
                noteAttempt(at: address)
            }
        }
    }

    private func store(_ preview: LinkPreview?, of address: String) {
        requested.remove(address)
        failed[address] = nil
        if cache.count >= Self.maxCount { (cache, failed) = ([:], [:]) }
        cache[address] = .some(preview)
    }

    /// Whether a link may be requested again. Of many links of a host that cannot be reached, scrolling through them
    /// requests one a minute.
    private func mayRetry(_ address: String) -> Bool {
        guard isOnline, let failure = failed[address], !requested.contains(address) else { return false }
        // From the seventh failure on, the interval stays at its maximum.
        let interval = min(Self.retryInterval * (1 << min(failure.count - 1, 6)), Self.maxRetryInterval)
        guard time.now() - failure.time >= interval else { return false }
        if let last = attempts[Self.host(of: address)], time.now() - last < Self.retryInterval { return false }
        noteAttempt(at: address)
        return true
    }

    private func noteAttempt(at address: String) {
        let now = time.now()
        if attempts.count >= Self.maxCount { attempts = attempts.filter { now - $0.value < Self.retryInterval } }
        attempts[Self.host(of: address)] = now
    }

    private static func host(of address: String) -> String { LinkTarget(address)?.host ?? address }
}

extension LinkPreview {
    /// The name of the site, or else the host of the link.
    public func siteText(of link: BodyLink) -> String { site.isEmpty ? link.target.host ?? "" : site }

    /// What a screen reader says for the card, which opens the link.
    public func accessibleText(_ translator: Translator) -> String {
        translator("Open {title}", ["title": title])
    }
}
