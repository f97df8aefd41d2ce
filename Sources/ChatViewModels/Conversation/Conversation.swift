public import ChatCore
import Composer
public import Observation

/// An open room: its timeline, its composer and its search, and what is known of the room itself.
@Observable
public final class Conversation {
    /// Whether the room is encrypted, according to the backend.
    enum Encryption {
        /// The backend has not been asked, or has not answered yet.
        case unchecked
        case off
        case on
        /// The backend cannot say: nothing may be written that could be sent in the clear.
        case unknown
    }

    private var encryption = Encryption.unchecked
    /// Whether the room is encrypted.
    public var isEncrypted: Bool { encryption == .on }
    /// Whether the backend has confirmed, since the connection was last lost, that the room is not encrypted.
    private var isConfirmedOff = false
    @ObservationIgnored private var isConfirming = false
    /// A room that may be encrypted counts as encrypted.
    private var reactionPolicy: ReactionPolicy {
        encryption == .off && isConfirmedOff ? .allowed : preferences.reactions.policyInEncryptedRooms
    }
    /// The room's predecessor and successor.
    public private(set) var succession = RoomSuccession()
    /// The room's topic and other details.
    private var headline = RoomHeadline()

    /// Returns the texts above the messages.
    /// - Parameters:
    ///   - name: the room's name in the room list.
    ///   - kind: the room's kind in the room list.
    public func header(name: String, kind: Room.Kind) -> ConversationHeader {
        ConversationHeader(
            name: name, kind: kind, headline: headline, otherCount: timeline.otherCount, isEncrypted: isEncrypted)
    }

    /// Whether the user certainly may not send messages to the room.
    private var lacksPermission: Bool {
        let isEncrypted: Bool? =
            switch encryption {
            case .on: true
            case .off: false
            case .unchecked, .unknown: nil
            }
        return SendingObstacle.lacksPermission(headline.forbiddenMessages, isEncrypted: isEncrypted)
    }
    /// Whether messages can be sent to the room.
    public var acceptsMessages: Bool {
        guard succession.next == nil, !lacksPermission else { return false }
        return switch encryption {
        case .unchecked, .off: true
        case .on: session.encryption.problem == nil
        case .unknown: false
        }
    }
    /// The draft while no messages can be sent, which the user may want to use elsewhere; `nil` for none.
    public var hiddenDraft: HiddenDraft? {
        guard !acceptsMessages else { return nil }
        let draft = HiddenDraft(
            text: composer.draftText, files: composer.draftFiles,
            canBeMoved: successor != nil && !isMovingDraft && !composer.movableDrafts.isEmpty)
        return draft.text.isEmpty && draft.files.isEmpty ? nil : draft
    }
    /// The room that replaced this one, if the user is in it.
    private var successor: RoomID? { succession.next.flatMap { draftMover?.room(at: $0) } }
    @ObservationIgnored weak var draftMover: DraftMover?

    private var isMovingDraft = false

    /// Moves the draft to the room that replaced this one.
    /// - Returns: the link to that room, which has it now and is to be opened; `nil` if it has not, or if the user has
    ///   left this room meanwhile.
    public func moveDraft() async -> String? {
        guard !isMovingDraft, let link = succession.next, let successor, let draftMover else { return nil }
        isMovingDraft = true
        defer { isMovingDraft = false }
        let wasClosed = isClosed
        let isMoved = await draftMover.move(from: composer, to: successor)
        // Who has opened another room stays there: the rest of what they are typing must not go to this one.
        return isMoved && isClosed == wasClosed ? link : nil
    }

    /// Says in place of the composer why no messages can be sent, if permissions or encryption are the reason.
    public func sendingNotice(_ translator: Translator) -> String? {
        if lacksPermission {
            // Upgrading a room takes the permission away, and the link to its successor is shown instead.
            guard succession.next == nil else { return nil }
            return SendingObstacle.permission.text(translator)
        }
        return switch encryption {
        case .unchecked, .off: nil
        case .on: session.encryption.problem.map { Self.notice(for: $0, translator) }
        case .unknown: translator("You can send messages once the server confirms that this room is not encrypted.")
        }
    }
    private static func notice(for problem: EncryptionCondition.Problem, _ translator: Translator) -> String {
        switch problem {
        case .locked: translator("Unlock the keyring to send messages in this encrypted room.")
        case .notBuilt:
            translator("This version of Parlance was built without encryption: it cannot send messages in this room.")
        case .replaced:
            translator("Messages cannot be sent in this encrypted room: another app has this device’s keys.")
        case .credentialLost, .missing, .damaged, .noDevice, .storage:
            translator("Messages cannot be sent in this encrypted room: this device’s keys are not available.")
        }
    }
    public let roomID: RoomID
    public let timeline: TimelineViewModel
    public let composer: ComposerViewModel
    public let search: RoomSearchViewModel
    /// Warnings about the members' identities; `nil` for local rooms.
    public let trust: RoomTrustViewModel?
    public let preferences: UserPreferences
    /// The toasts and questions for the window that displays the room.
    public let requests: WindowRequests
    /// The media service for the room's messages.
    public var media: any MediaService { service }
    @ObservationIgnored private let service: any ChatService
    @ObservationIgnored let session: AccountSession
    @ObservationIgnored let encryptionOfAccount: EncryptionCoordinator?
    @ObservationIgnored private var subscriptions: [ChangeSubscription] = []
    @ObservationIgnored private var isClosed = false
    /// The number of times that the encryption was checked.
    @ObservationIgnored private var checkCount = 0
    /// The number of times that the room's state was read.
    @ObservationIgnored private var readCount = 0
    @ObservationIgnored private var wasOnline = false
    /// The number of times that the connection was lost.
    @ObservationIgnored private var lossCount = 0

    /// - Parameters:
    ///   - requests: receives errors while the room is open.
    ///   - onTimelineOutput: receives the timeline's outputs, even after the room was closed.
    init(
        roomID: RoomID, composer: ComposerViewModel, environment: ConversationEnvironment,
        encryption: EncryptionCoordinator? = nil,
        requests: WindowRequests, onTimelineOutput: @escaping (TimelineViewModel.Output) -> Void
    ) {
        self.requests = requests
        preferences = environment.preferences
        let (service, session) = (environment.service, environment.session)
        let timeline = TimelineViewModel(
            roomID: roomID, service: service, time: environment.time, now: environment.now, onOutput: onTimelineOutput)
        timeline.send(.composer(.editing(composer.state.composer.editing.map { MessageID($0) })))
        timeline.send(.composer(.replyingTo(composer.state.composer.reply.map { MessageID($0.messageID) })))
        timeline.send(.context(.signedOut(session.isSignedOut)))
        subscriptions = [
            ChangeSubscription(to: { session.isSignedOut }) { [weak timeline] in
                timeline?.send(.context(.signedOut($0)))
            }
        ]
        trust = encryption.map {
            RoomTrustViewModel(roomID, of: $0) { [weak timeline] in timeline?.members ?? [] }
        }
        encryptionOfAccount = encryption
        self.session = session
        self.roomID = roomID
        self.composer = composer
        self.timeline = timeline
        self.service = service
        search = RoomSearchViewModel(roomID: roomID, service: service, now: environment.now) { [weak timeline] in
            timeline?.send(.pages(.jump(.message($0))))
        }
    }

    /// Loads the messages, and what is known of the room.
    func start() {
        timeline.send(.context(.reactions(reactionPolicy)))
        timeline.start()
        checkEncryption()
        readState()
        // A server that could not be asked can be asked again.
        subscriptions.append(
            ChangeSubscription(to: { [weak self] in self?.reactionPolicy }) { [weak self] policy in
                if let policy { self?.timeline.send(.context(.reactions(policy))) }
            })
        // A reply or an edit would change the draft in a composer that is not shown.
        subscriptions.append(
            ChangeSubscription(to: { [weak self] in self?.acceptsMessages }) { [weak self] acceptsMessages in
                if let acceptsMessages { self?.timeline.send(.context(.acceptsMessages(acceptsMessages))) }
            })
        subscriptions.append(
            ChangeSubscription(to: { [session] in session.isOnline }) { [weak self] isOnline in
                self?.noteConnection(isOnline: isOnline)
            })
    }

    private func noteConnection(isOnline: Bool) {
        if wasOnline, !isOnline {
            lossCount += 1
            isConfirmedOff = false
        }
        wasOnline = isOnline
        timeline.linkPreviews?.isOnline = isOnline
        guard isOnline else { return }
        if encryption == .unknown { checkEncryption() }
        Task { await confirmOff() }
        timeline.send(.context(.cameOnline))
    }

    func noteEncrypted() { encryption = .on }

    /// Encryption can be enabled at any time and is never disabled: once on, it is not asked for again.
    func checkEncryption() {
        guard !isEncrypted else { return }
        checkCount += 1
        Task { [service, roomID, check = checkCount] in
            let found: Encryption
            do {
                found = try await service.isEncrypted(roomID) ? .on : .off
            } catch {
                // A newer check answers instead.
                guard check == checkCount else { return }
                found = .unknown
                if !isClosed { requests.show(.failed(ChatError(error))) }
            }
            // The timeline may have reported encryption meanwhile. That it is on counts from an older check, too.
            if !isEncrypted, found == .on || check == checkCount { encryption = found }
            await confirmOff()
        }
    }

    /// Has the backend confirm that the room is not encrypted. Without an answer it counts as encrypted.
    private func confirmOff() async {
        // Each event of the room calls this, and each call may be a request.
        guard !isConfirming else { return }
        isConfirming = true
        defer { isConfirming = false }
        while encryption == .off, !isConfirmedOff {
            let losses = lossCount
            guard let isOff = try? await service.confirmsUnencrypted(roomID), encryption == .off else { return }
            if !isOff {
                encryption = .on
            } else if losses == lossCount {
                isConfirmedOff = true
            }
        }
    }

    /// Reads again what may have changed with an event of the room.
    func refresh() {
        readState()
        if encryption == .unknown { checkEncryption() } else { Task { await confirmOff() } }
    }

    /// Reads the room's successor and headline. What cannot be read stays as it was.
    private func readState() {
        readCount += 1
        Task { [service, roomID, read = readCount] in
            // The next event of the room asks again.
            let newSuccession = try? await service.succession(of: roomID)
            let newHeadline = try? await service.headline(of: roomID)
            // A newer read answers instead.
            guard read == readCount else { return }
            if let newSuccession, newSuccession != succession { succession = newSuccession }
            if let newHeadline, newHeadline != headline { headline = newHeadline }
        }
    }

    /// Stores the scroll position and the draft. Returns once they are stored.
    public func flush() async {
        await timeline.flush()
        await composer.flushDraft()
    }

    /// Stores the scroll position and the draft, without waiting.
    func close() {
        isClosed = true
        // Closed rooms get no typing notifications, so clear the typing users.
        composer.send(.typingUsers([]))
        Task { await flush() }
    }
}
