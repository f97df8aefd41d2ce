public import ChatCore
public import Composer
public import ComposerSessions
public import Foundation
public import Observation

/// A room's composer: connects a session to the room's messages, drafts and commands.
@Observable
public final class ComposerViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        /// The engine's state except the text, which views mirror through ``ComposerViewModel/subscribe(_:)``.
        public var composer: ComposerState
        /// The first line of the message being edited.
        public var editQuote: String?
        /// A localized description of what saving the edit will lose.
        public var editWarning: String?
        /// Whether the stored draft has been loaded. Input before that is queued and added to it.
        public var isReady = false
    }

    public nonisolated enum Action: Sendable {
        case composer(ComposerEvent)
        /// Edits a stored message. The text of a message with files may be emptied; `warning` is shown while editing.
        case startEdit(MessageID, WrittenText, mayBeEmpty: Bool = false, warning: String? = nil)
        /// Starts a reply to a message, ending any edit.
        case startReply(ReplyTarget)
        /// The complete list of other users who are typing.
        case typingUsers([String])
        /// The message being edited was deleted.
        case messageDeleted(MessageID)
        /// The user's writing preferences, which apply at once.
        case preferencesChanged(WritingPreferences)
        /// The pointer was shaken over the composer.
        case shaken
    }

    public nonisolated enum Output: Equatable, Sendable {
        /// Asks to edit the user's newest message.
        case editLast
        case editing(MessageID?)
        /// The message being replied to.
        case replyingTo(MessageID?)
        /// The backend has accepted a message.
        case sent
        /// The user cleared the text; ``ComposerEvent/undo`` restores it.
        case cleared
        case failed(ChatError)
        /// Editing another message interrupted an unfinished edit; ``ComposerEvent/undo`` returns to it.
        case editSuspended
        /// The input was rejected and nothing changed.
        case rejected(ComposerRejection)
        /// A command failed, for this localized reason. Its text is back in the composer.
        case commandFailed(String)
    }

    public let roomID: RoomID
    /// The user's writing preferences.
    public private(set) var preferences: WritingPreferences

    @ObservationIgnored private let session: ComposerSession
    @ObservationIgnored private let delivery: MessageDelivery
    @ObservationIgnored private let emoji: EmojiLibrary?
    @ObservationIgnored private var onOutput: ((Output) -> Void)?
    @ObservationIgnored private let draft: RoomDraft
    @ObservationIgnored private let roomSpelling: RoomSpelling
    @ObservationIgnored private let rejected = RejectedMessages()
    @ObservationIgnored private let queue = DeliveryQueue()
    @ObservationIgnored private let commandQueue = DeliveryQueue()
    @ObservationIgnored private let typing: LatestValueSink<Bool>
    @ObservationIgnored private let meter: MessageMeter
    /// Warnings for all messages edited since the start, since undo may return to an earlier edit; `nil` for an edit
    /// that loses nothing.
    private var editWarnings: [String: String?] = [:]

    /// - Parameters:
    ///   - completionSources: answer completion queries; for a prefix that several share, the first one.
    ///   - inputController: decides what is typed; `nil` for none.
    ///   - commands: the slash commands; `nil` if a leading slash has no meaning.
    ///   - emoji: receives the emoji the user picks, so that completion can rank them first.
    ///   - spellChecker: judges words; `nil` if spelling is not checked.
    ///   - languages: remembers the room's languages; `nil` if it has none of its own.
    ///   - typingTimeout: how long others are shown as typing, in case the service does not say that they stopped; zero
    ///     for no limit.
    ///   - onWordAdded: called when the user added a word to a dictionary.
    ///   - onCommand: executes commands that are not messages. Errors are reported, and the command's text is restored.
    ///   - onOutput: receives events that concern other parts of the window, until ``stopReporting(_:)``.
    public init(
        roomID: RoomID, service: any MessageService & DraftService, media: (any MediaService)? = nil,
        configuration: ComposerConfiguration = .preset(.parlance), completionSources: [any CompletionSource] = [],
        inputController: (any ComposerInputController)? = nil, time: Timekeeper = .continuous,
        commands: CommandRegistry? = nil, emoji: EmojiLibrary? = nil, spellChecker: (any SpellChecker)? = nil,
        languages: (any WritingLanguageService)? = nil, typingTimeout: Duration = .seconds(30),
        onWordAdded: @escaping () -> Void = {},
        makeTransactionID: @escaping () -> TransactionID = { TransactionID(UUID().uuidString) },
        onCommand: @escaping (ChatCommand) async throws -> Void = { _ in },
        onOutput: @escaping (Output) -> Void = { _ in }
    ) {
        self.roomID = roomID
        self.emoji = emoji
        self.onOutput = onOutput
        delivery = MessageDelivery(
            roomID: roomID, service: service, makeTransactionID: makeTransactionID, commands: commands,
            onCommand: onCommand)
        var configuration = configuration
        // Together with the time to write it, this keeps the stored draft at most half a second behind the keyboard.
        configuration.draftDelay = .milliseconds(300)
        configuration.typingTimeout = typingTimeout
        configuration.attachments = AttachmentLimits(count: ChatLimits.attachments, bytes: ChatLimits.attachmentBytes)
        let preferences = WritingPreferences(sendKey: configuration.sendKey)
        self.preferences = preferences
        let session = ComposerSession(
            configuration: configuration, completionSources: completionSources, inputController: inputController,
            media: media, time: time)
        self.session = session
        draft = RoomDraft(in: session, of: roomID, service: service, time: time)
        roomSpelling = RoomSpelling(
            in: session, of: roomID, by: spellChecker, languages: languages, preferences, onWordAdded: onWordAdded)
        typing = LatestValueSink { await service.setTyping($0, in: roomID) }
        meter = MessageMeter(service, in: roomID) { [weak session] in session?.handle(.measured($0)) }
        session.withEngine { engine, _ in
            engine.setSendGate(commands)
            return []
        }
        connect()
    }

    private func connect() {
        session.onFailure = { [weak self] in self?.onOutput?(.failed($0)) }
        session.onEffect = { [weak self] in self?.perform($0) }
        session.onUpdate = { [weak self] in self?.update(from: $0, to: $1) }
        session.onSend = { [weak self] message in
            guard let self else { return }
            // Sending a message replaces the stored draft.
            if self.delivery.executedCommand(in: message) == nil, let error = await self.draft.readAgain() {
                throw error
            }
            try await self.delivery.send(message, leaving: self.session.makeDraft(storing: message.id))
        }
        session.onEdit = { [weak self] in try await self?.delivery.edit(MessageID($0), to: $1) }
        session.onDelivered = { [weak self] in self?.noteDelivery($0, $1) }
        session.runDelivery = { [weak self] in self?.enqueue($0, $1) }
    }

    public var state: State {
        State(
            composer: session.composer, editQuote: session.editQuote,
            editWarning: session.composer.editing.flatMap { editWarnings[$0] ?? nil }, isReady: session.isReady)
    }

    private func setPreferences(_ preferences: WritingPreferences) {
        guard preferences != self.preferences else { return }
        self.preferences = preferences
        roomSpelling.setPreferences(preferences)
        var configuration = session.configuration
        configuration.sendKey = preferences.sendKey
        configuration.completion.implicitLength = preferences.suggestsMembers ? WritingPreferences.suggestedLength : 0
        session.configuration = configuration
    }

    /// Whether it is known what saving an edit of this message loses. Of an edit restored from a draft, it is not.
    func knowsWarning(of message: MessageID) -> Bool { editWarnings.keys.contains(message.rawValue) }

    /// Sets the warning for an edit restored from a draft, unless the message was edited anew since.
    func setRestoredWarning(_ warning: String?, of message: MessageID) {
        if !knowsWarning(of: message) { editWarnings.updateValue(warning, forKey: message.rawValue) }
    }

    /// Reports nothing from now on, because the user has left the room, except what they believe to be sent.
    /// - Parameter onUnsent: receives the text of each message that was sent and cannot be stored any more.
    func stopReporting(_ onUnsent: @escaping (String) -> Void) {
        onOutput = nil
        rejected.leaveRoom(with: session.makeDraft(), onUnsent: onUnsent)
    }

    /// Inserts an emoji picked by the user at the caret.
    public func insertEmoji(_ text: String) {
        handle(.insert(text, origin: .typed))
        emoji?.noteUse(of: text)
    }

    /// Shows an error to the user.
    public func report(_ error: ChatError) { onOutput?(.failed(error)) }

    // MARK: Input

    public func send(_ action: Action) {
        switch action {
        case .composer(let event): handle(event)
        case .startEdit(let message, let text, let mayBeEmpty, let warning):
            editWarnings.updateValue(warning, forKey: message.rawValue)
            handle(.startEdit(id: message.rawValue, text, mayBeEmpty: mayBeEmpty))
            session.requestFocus()
        case .startReply(let target):
            handle(.reply(target))
            session.requestFocus()
        case .typingUsers(let names):
            for name in composer.typingNames where !names.contains(name) {
                handle(.userTyping(name: name, false))
            }
            for name in names { handle(.userTyping(name: name, true)) }
        case .messageDeleted(let message): handle(.messageDeleted(id: message.rawValue))
        case .preferencesChanged(let preferences): setPreferences(preferences)
        case .shaken: if preferences.clearsByShaking { handle(.clear) }
        }
    }

    @discardableResult
    public func handle(_ event: ComposerEvent) -> Bool {
        let isClearing = clears(event)
        let isHandled = draft.handle(event)
        if isClearing, document.isEmpty { onOutput?(.cleared) }
        return isHandled
    }

    /// Whether the event clears a non-empty text (SLK-43).
    private func clears(_ event: ComposerEvent) -> Bool {
        guard !document.isEmpty else { return false }
        switch event {
        case .clear: return true
        case .key(let chord): return session.action(for: chord) == .clear
        default: return false
        }
    }

    /// Restores the text reported by ``Output/cleared``, unless something was written since.
    public func undoClearing() {
        if document.isEmpty { handle(.undo) }
    }

    // MARK: Drafts

    /// Restores the stored draft, then replays the input received meanwhile.
    public func start() async {
        guard !session.isReady else { return }
        await draft.restore()
        await roomSpelling.load()
    }

    /// Tries at once to read a stored draft that could not be read.
    func readDraftAgain() { draft.startReadingAgain() }

    /// Stores the draft once queued messages are delivered. Call it before closing.
    /// - Returns: whether the draft is stored.
    @discardableResult
    public func flushDraft() async -> Bool { await draft.flush(after: queue) }

    /// Whether what was written would be lost with the program, after ``flushDraft()``.
    var hasUnstoredDraft: Bool { draft.isUnstored }

    /// The text of the draft, after that of an unfinished edit; empty if there is none.
    var draftText: String {
        // Observers learn of each change of the text by its revision.
        _ = composer.revision
        return session.isReady ? session.makeDraft().text : ""
    }

    /// The draft, for observers.
    private var observedDraft: ComposerDraft {
        // These change with the text and the files, also with those that are set aside.
        _ = (composer.revision, composer.attachments, composer.editing)
        return session.makeDraft()
    }

    /// Whether a file of the draft is still being copied, also one of a message that waits for the end of an edit.
    var isCopyingFiles: Bool {
        observedDraft.contents.flatMap(\.attachments).contains { if case .running = $0.upload { true } else { false } }
    }

    /// The names of the draft's files.
    var draftFiles: [String] { observedDraft.contents.flatMap(\.attachments).map(\.name) }

    /// What another room could go on with: the new message without its reply, after the text of an unfinished edit, which
    /// is a new message there. Empty until the files are copied.
    var movableDrafts: [ComposerDraft] {
        let draft = observedDraft
        let isCopying = draft.contents.flatMap(\.attachments).contains {
            if case .running = $0.upload { true } else { false }
        }
        guard session.isReady, !isCopying else { return [] }
        return draft.contents.map { content in
            var moved = draft
            (moved.mode, moved.content, moved.stash) = (.compose, content, nil)
            (moved.unsent, moved.unsavedEdits, moved.suspendedEdits, moved.originals) = (nil, nil, nil, nil)
            moved.content.reply = nil
            return moved
        }.filter { !$0.isEmpty }
    }

    /// Whether what is written begins with another room's drafts.
    func begins(with drafts: [ComposerDraft]) -> Bool {
        session.makeDraft().contents.contains { content in
            var rest = content.written.source[...]
            for draft in drafts {
                let source = draft.content.written.source
                guard rest.hasPrefix(source) else { return false }
                rest = rest.dropFirst(source.count)
                // As the text was put there.
                if !source.isEmpty, !source.hasSuffix("\n"), rest.first == "\n" { rest.removeFirst() }
            }
            return content.attachments.starts(with: drafts.flatMap(\.content.attachments))
        }
    }

    /// Puts another room's drafts before what is written.
    /// - Returns: whether they are there.
    func add(_ drafts: [ComposerDraft]) -> Bool {
        guard let encoded = try? drafts.map({ try $0.encoded() }) else { return false }
        for data in encoded.reversed() { session.putBefore(encoded: data) { MentionTarget(firstDraft: $0, $1) } }
        return true
    }

    /// Removes what another room has.
    func removeMovedDraft(_ moved: [ComposerDraft]) async {
        if composer.editing != nil { handle(.cancelEdit) }
        // A message that could not be queued may have come back when the edit ended.
        let left = session.makeDraft()
        let isMoved = moved.contains {
            $0.content.written == left.content.written && $0.content.attachments == left.content.attachments
        }
        if isMoved, left.mode == .compose {
            for _ in composer.attachments { handle(.detach(0)) }
            // Not reported as cleared by the user, which offers to undo it.
            session.handle(.clear)
        }
        if document.isEmpty, composer.attachments.isEmpty, composer.reply != nil { handle(.reply(nil)) }
        await flushDraft()
    }

    /// Performs an action once a draft is stored that could not be stored before.
    func whenDraftIsStored(_ action: @escaping () -> Void) { draft.whenStored(action) }

    /// Whether the new message ends with a text, on lines of its own.
    func endsWithLines(_ text: String) -> Bool { session.makeDraft().endsWithLines(text) }

    /// The URIs of all files that the composer holds, also for undo and redo.
    var mediaURIs: Set<String> { session.fileSources }

    // MARK: Effects

    private func perform(_ effect: ComposerEffect) {
        switch effect {
        case .editLastRequested: onOutput?(.editLast)
        case .editSuspended: onOutput?(.editSuspended)
        case .typing(let isTyping): typing.put(isTyping)
        case .draftChanged: draft.store()
        case .rejected(let reason): onOutput?(.rejected(reason))
        default: break
        }
    }

    private func update(from before: ComposerState, to after: ComposerState) {
        if after.reply?.messageID != before.reply?.messageID {
            onOutput?(.replyingTo(after.reply.map { MessageID($0.messageID) }))
        }
        meter.update(document, after)
        // Notify last: the handler may send the next event synchronously.
        if after.editing != before.editing { onOutput?(.editing(after.editing.map { MessageID($0) })) }
    }

    // MARK: Deliveries

    /// Asks the service to cancel the message being sent (MIB-10), or the command being executed; its text returns to
    /// the composer.
    public func cancelSending() {
        queue.cancelCurrent()
        commandQueue.cancelCurrent()
    }

    /// Runs deliveries in order. Drafts are held back meanwhile: the backend removes the stored draft together with
    /// storing the message, so a crash in between loses nothing, and no draft older than the message is written
    /// after it.
    ///
    /// - Parameter message: the message's identifier; `nil` for an edit.
    private func enqueue(_ message: String?, _ delivery: @escaping @MainActor () async -> Void) {
        draft.hold()
        // Keeps this view model until everything is delivered, even if its room closes.
        queue.add { [self] in
            await draft.waitUntilIdle()
            if let message, isCommand(message) { execute(delivery) } else { await delivery() }
            draft.store()
            draft.release()
        }
    }

    private func isCommand(_ message: String) -> Bool {
        session.pendingMessage(message).map { delivery.executedCommand(in: $0) != nil } ?? false
    }

    /// Executes a command once what was sent before it is stored, and earlier commands are done. A server may take
    /// minutes to answer: what is written and sent after it does not wait, and its text stays in the draft until then.
    private func execute(_ delivery: @escaping @MainActor () async -> Void) {
        commandQueue.add { [self] in
            await delivery()
            draft.store()
        }
    }

    private func noteDelivery(_ delivery: ComposerSession.Delivery, _ error: (any Error)?) {
        switch (delivery, error) {
        case (.message(let message), nil):
            // A command may succeed without the room.
            if self.delivery.executedCommand(in: message) == nil { rejected.noteAccepted() }
            let command = self.delivery.command(in: message)
            if command == nil || command?.messageCommand != nil { onOutput?(.sent) }
            if command == .help { handle(.complete("/")) }
        case (.message, is CancellationError), (.edit, nil): break
        case (.message, let failure as CommandFailure): onOutput?(.commandFailed(failure.reason))
        case (.message(let message), let error?):
            // A command is no message, and means nothing once the room is left.
            if self.delivery.executedCommand(in: message) == nil {
                rejected.noteFailure(of: message, because: ChatError(error))
            }
            onOutput?(.failed(ChatError(error)))
        case (.edit, let error?): onOutput?(.failed(ChatError(error)))
        }
    }
}

extension ComposerViewModel: ComposerModel {
    public var composer: ComposerState { session.composer }
    public var editQuote: String? { state.editQuote }
    public var editWarning: String? { state.editWarning }
    public var document: ComposerDocument { session.document }
    public var configuration: ComposerConfiguration { session.configuration }
    public var keys: KeyTable { session.keys }
    public func subscribe(_ onTextEffect: @escaping (ComposerEffect) -> Void) { session.subscribe(onTextEffect) }
    public var spelling: ComposerSpelling? { session.spelling }
    public var misspelled: [TextRange] { session.misspelled }
    public func misspelling(at offset: Int) -> TextRange? { session.misspelling(at: offset) }
    /// Adds files to the composer; `nil` if the backend does not support them.
    public var attachments: AttachmentQueue? { session.media == nil ? nil : session.attachments }

    public func withEngine(_ body: @escaping (inout ComposerEngine, Duration) -> [ComposerEffect]) {
        session.withEngine(body)
    }
}
