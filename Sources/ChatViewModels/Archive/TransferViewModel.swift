public import ChatCore
public import Foundation
public import Observation

/// An export or import of rooms, with its progress.
@Observable
public final class TransferViewModel: ViewModel {
    public nonisolated enum Task: Equatable, Sendable {
        case export(RoomID, name: String, ExportFormat, into: URL)
        case `import`(URL)
    }

    public nonisolated enum Failure: Error, Equatable, Sendable {
        case archive(ArchiveError)
        case chat(ChatError)
    }

    public nonisolated enum Phase: Equatable, Sendable {
        case running(TransferProgress)
        /// These conversations were imported before: waits for the user's decision.
        case asking([EarlierImport])
        /// Canceled, and removing what was imported so far.
        case stopping
        case exported(ExportReport)
        case imported(ImportReport)
        case failed(Failure)
        /// Canceled, without leaving anything behind.
        case cancelled
    }

    public nonisolated struct State: Equatable, Sendable {
        public let isImport: Bool
        /// The name of the imported file or folder, or of the exported room.
        public let name: String
        public var phase = Phase.running(TransferProgress(messages: 0, fraction: nil))

        public var isOver: Bool {
            switch phase {
            case .running, .asking, .stopping: false
            case .exported, .imported, .failed, .cancelled: true
            }
        }
        public var isAsking: Bool { if case .asking = phase { true } else { false } }
        public var canCancel: Bool { if case .running = phase { true } else { isAsking } }
        /// The folder of a finished export.
        public var exportedFolder: URL? { if case .exported(let report) = phase { report.folder } else { nil } }
        /// Whether there is a result to open: the exported folder or the first imported room.
        public var canOpen: Bool { if case .imported = phase { true } else { exportedFolder != nil } }

        /// A button that takes the focus.
        public nonisolated enum Focus: Equatable, Sendable {
            case merge, open, close
        }

        /// The button to focus when the dialog asks or has finished; `nil` keeps the focus.
        public var focus: Focus? { isAsking ? .merge : !isOver ? nil : canOpen ? .open : .close }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case cancel
        /// How to handle conversations that were imported before.
        case decide(RepeatedImport)
        /// Opens the first of the imported rooms.
        case showImported
    }

    public private(set) var state: State
    @ObservationIgnored private let onShow: (RoomID) -> Void
    @ObservationIgnored private let work: Task
    @ObservationIgnored private let archive: any ConversationArchive
    @ObservationIgnored private let ongoingWork: OngoingWork
    @ObservationIgnored private var running: _Concurrency.Task<Void, Never>?
    @ObservationIgnored private var question: CheckedContinuation<RepeatedImport, any Error>?

    /// - Parameters:
    ///   - ongoingWork: counts the transfer until it has ended, also while it removes what it began.
    ///   - onShow: opens an imported room.
    public init(
        _ task: Task, archive: any ConversationArchive, countedBy ongoingWork: OngoingWork = .shared,
        onShow: @escaping (RoomID) -> Void = { _ in }
    ) {
        work = task
        self.ongoingWork = ongoingWork
        self.onShow = onShow
        self.archive = archive
        switch task {
        case .import(let source): state = State(isImport: true, name: source.lastPathComponent)
        case .export(_, let name, _, _): state = State(isImport: false, name: name)
        }
    }

    isolated deinit {
        running?.cancel()
        question?.resume(throwing: CancellationError())
    }

    public func start() {
        guard running == nil else { return }
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        running = _Concurrency.Task { [weak self, work, archive, ongoingWork] in
            let following = _Concurrency.Task { [weak self] in
                for await progress in stream { self?.report(progress) }
            }
            let end = await ongoingWork.run {
                await Self.perform(work, with: archive) { [weak self] earlierImports in
                    try await Self.requestDecision(earlierImports, self)
                } progress: {
                    continuation.yield($0)
                }
            }
            continuation.finish()
            // Deliver pending progress first, so that none overwrites the result.
            await following.value
            self?.state.phase = end
        }
    }

    public func send(_ action: Action) {
        switch action {
        case .cancel:
            guard state.canCancel else { return }
            state.phase = .stopping
            running?.cancel()
            question?.resume(throwing: CancellationError())
            question = nil
        case .decide(let decision):
            guard let question else { return }
            self.question = nil
            state.phase = .running(TransferProgress(messages: 0, fraction: nil))
            question.resume(returning: decision)
        case .showImported:
            guard case .imported(let report) = state.phase, let first = report.conversations.first else { return }
            onShow(first.room)
        }
    }

    /// - Throws: `CancellationError` if the user cancels or the model is deallocated.
    private static func requestDecision(_ earlierImports: [EarlierImport], _ model: TransferViewModel?) async throws
        -> RepeatedImport
    {
        try await withCheckedThrowingContinuation { continuation in
            guard let model, model.state.canCancel else { return continuation.resume(throwing: CancellationError()) }
            model.question = continuation
            model.state.phase = .asking(earlierImports)
        }
    }

    private func report(_ progress: TransferProgress) {
        if case .running = state.phase { state.phase = .running(progress) }
    }

    private static func perform(
        _ task: Task, with archive: any ConversationArchive,
        ask: @escaping @MainActor @Sendable ([EarlierImport]) async throws -> RepeatedImport,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async -> Phase {
        do {
            switch task {
            case .export(let room, let name, let format, let folder):
                return .exported(
                    try await archive.export(room, named: name, as: format, into: folder, progress: progress))
            case .import(let source):
                return .imported(
                    try await archive.importConversations(from: source, resolveRepeats: ask, progress: progress))
            }
        } catch is CancellationError {
            return .cancelled
        } catch let error as ArchiveError {
            return .failed(.archive(error))
        } catch {
            return .failed(.chat(ChatError(error)))
        }
    }
}
