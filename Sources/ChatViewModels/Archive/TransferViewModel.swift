public import ChatCore
public import Foundation
public import Observation

/// Brings rooms out of the application or into it, and tells how far that is.
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
        /// It was asked to stop, and what was begun is being removed.
        case stopping
        case exported(ExportReport)
        case imported(ImportReport)
        case failed(Failure)
        /// It was stopped, and nothing is left of it.
        case cancelled
    }

    public nonisolated struct State: Equatable, Sendable {
        public let isImport: Bool
        public var phase = Phase.running(TransferProgress(messages: 0, fraction: nil))

        public var isOver: Bool {
            switch phase {
            case .running, .stopping: false
            case .exported, .imported, .failed, .cancelled: true
            }
        }
        public var canCancel: Bool { if case .running = phase { true } else { false } }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case cancel
        /// To the first of the rooms that were made.
        case showImported
    }

    public nonisolated enum Output: Equatable, Sendable {
        case show(RoomID)
    }

    public private(set) var state: State
    @ObservationIgnored public var onOutput: ((Output) -> Void)?
    @ObservationIgnored private let work: Task
    @ObservationIgnored private let archive: any ConversationArchive
    @ObservationIgnored private var running: _Concurrency.Task<Void, Never>?

    public init(_ task: Task, archive: any ConversationArchive) {
        work = task
        self.archive = archive
        if case .import = task { state = State(isImport: true) } else { state = State(isImport: false) }
    }

    isolated deinit { running?.cancel() }

    /// Begins.
    public func start() {
        guard running == nil else { return }
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        running = _Concurrency.Task { [weak self, work, archive] in
            let following = _Concurrency.Task { [weak self] in
                for await progress in stream { self?.report(progress) }
            }
            let end = await Self.carryOut(work, with: archive) { continuation.yield($0) }
            continuation.finish()
            // What was told before the end is not shown after it.
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
        case .showImported:
            guard case .imported(let report) = state.phase, let first = report.conversations.first else { return }
            onOutput?(.show(first.room))
        }
    }

    private func report(_ progress: TransferProgress) {
        if case .running = state.phase { state.phase = .running(progress) }
    }

    private static func carryOut(
        _ task: Task, with archive: any ConversationArchive,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async -> Phase {
        do {
            switch task {
            case .export(let room, let name, let format, let folder):
                return .exported(
                    try await archive.export(room, named: name, as: format, into: folder, progress: progress))
            case .import(let source):
                return .imported(try await archive.importConversations(from: source, progress: progress))
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
