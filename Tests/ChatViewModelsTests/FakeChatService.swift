import ChatCore
import Observation

/// Records calls, stores drafts, and publishes the updates that a test provides.
@MainActor @Observable final class FakeChatService {
    enum Call: Equatable, Sendable {
        case create(String), rename(RoomID, String), leave(RoomID), remove(MemberID, RoomID)
        case page(before: Int64), pageAfter(Int64), pageAround(TimelineTarget), quoted([MessageID])
        case markRead(MessageID), savePlace(ScrollPosition?)
        case send(String, TransactionID), edit(MessageID, String), delete(MessageID), retry(TransactionID?)
        case discard(TransactionID?), typing(Bool)
        case draft(RoomID), saveDraft(String?)
        case search(SearchQuery), membersNamed(String)
        case accept(RoomID), decline(RoomID)
        case setMarkedUnread(RoomID, Bool), markAllRead(RoomID)
        case notify(RoomNotificationRule?, RoomID)
        case encrypt(RoomID), decrypt(String), react(String, MessageID, isAdded: Bool)
    }

    private(set) var calls: [Call] = []
    var drafts: [RoomID: SavedDraft] = [:]
    var writingLanguages: [RoomID: [String]] = [:]
    /// Called before each call is executed; may suspend or throw.
    @ObservationIgnored var before: @MainActor (Call) async throws -> Void = { _ in }
    /// Called for each message that is sent.
    @ObservationIgnored var onSend: @MainActor (WrittenMessage) -> Void = { _ in }
    /// The messages of each call that sends several in one step, by their texts.
    var batches: [[String]] = []
    /// Returns the page before a position; evaluated at the call, returned once ``before`` returns.
    @ObservationIgnored var pages: @MainActor (Int64, Int) -> TimelinePage = { _, _ in
        .init(messages: [], hasOlder: false)
    }
    @ObservationIgnored var pagesAfter: @MainActor (Int64, Int) -> TimelinePage = { _, _ in
        .init(messages: [], hasOlder: true)
    }
    /// Returns the page around a target, or `nil` if there is no such message.
    @ObservationIgnored var pagesAround: @MainActor (TimelineTarget, Int) -> TimelinePage? = { _, _ in nil }
    @ObservationIgnored var known: @MainActor (MessageID) -> Message? = { _ in nil }
    /// Returns search results; evaluated at the call.
    @ObservationIgnored var searchPages: @MainActor (SearchQuery) -> SearchPage = { _ in
        SearchPage(messages: [], next: nil)
    }
    @ObservationIgnored var named: [String: Set<MemberID>] = [:]
    var places: [RoomID: ScrollPosition] = [:]
    /// The first update of each room's timeline.
    @ObservationIgnored var openings: [RoomID: TimelineUpdate] = [:]
    @ObservationIgnored private(set) var timelines: [RoomID: AsyncStream<TimelineUpdate>.Continuation] = [:]
    @ObservationIgnored nonisolated let rooms = AsyncStream.makeStream(
        of: [RoomSummary].self, bufferingPolicy: .bufferingNewest(1))

    @ObservationIgnored nonisolated let invited = AsyncStream.makeStream(
        of: [Invitation].self, bufferingPolicy: .bufferingNewest(1))

    @ObservationIgnored nonisolated let notifications = AsyncStream.makeStream(of: NotificationSettings.self)
    @ObservationIgnored nonisolated let arriving = AsyncStream.makeStream(of: MessageArrival.self)

    @ObservationIgnored nonisolated let unsent = AsyncStream.makeStream(of: UnsentContent.self)
    @ObservationIgnored nonisolated let removals = AsyncStream.makeStream(of: RoomRemoval.self)

    /// Optional capabilities.
    @ObservationIgnored nonisolated(unsafe) var capabilities: BackendCapabilities = []
    /// The maximum size of a message in bytes.
    @ObservationIgnored nonisolated(unsafe) var maxBytes = 2000
    /// Returns a room's member list from the server.
    @ObservationIgnored var rosters: @MainActor (RoomID) async throws -> RoomMembers = { _ in
        throw ChatError.notPermitted
    }

    /// Returns whether a room is encrypted.
    @ObservationIgnored var encryption: @MainActor (RoomID) async throws -> Bool = { _ in false }
    @ObservationIgnored nonisolated(unsafe) var successions: [RoomID: RoomSuccession] = [:]
    @ObservationIgnored nonisolated(unsafe) var headlines: [RoomID: RoomHeadline] = [:]
    @ObservationIgnored var confirmingUnencrypted: @MainActor () async throws -> Bool = { true }

    /// Joins a room by its address.
    @ObservationIgnored var joining: @MainActor (String) async throws -> RoomID = { _ in throw ChatError.notPermitted }

    nonisolated init() {}

    func publish(_ invitations: [Invitation]) { invited.continuation.yield(invitations) }

    func arrive(_ arrival: MessageArrival) { arriving.continuation.yield(arrival) }

    func publish(_ summaries: [RoomSummary]) { rooms.continuation.yield(summaries) }
    func publish(_ update: TimelineUpdate, in room: RoomID = RoomID("room")) { timelines[room]?.yield(update) }

    func record(_ call: Call) async throws {
        calls.append(call)
        try await before(call)
    }

    func openTimeline(_ room: RoomID) -> AsyncStream<TimelineUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: TimelineUpdate.self)
        timelines[room] = continuation
        if let opening = openings[room] { continuation.yield(opening) }
        return stream
    }
}
