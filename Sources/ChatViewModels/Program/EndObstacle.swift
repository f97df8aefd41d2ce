public import ChatCore
import Observation

/// What the user would lose if the program ended now.
public nonisolated enum EndObstacle: Equatable, Sendable {
    /// A draft that cannot be stored.
    case drafts
    /// Files are being copied, messages forwarded, chat history or keys exported or imported, or accounts signed out.
    case work

    /// Asks whether to end the program nevertheless.
    public func confirmation(_ translator: Translator) -> ConfirmationText {
        switch self {
        case .drafts:
            ConfirmationText(
                heading: translator("Quit Without Saving Drafts?"),
                body: translator("What you have written could not be stored on this computer. It will be lost."),
                action: translator("_Quit"))
        case .work:
            ConfirmationText(
                heading: translator("Quit Now?"),
                body: translator(
                    "A file is still being copied, a message forwarded, chat history or keys exported or imported, or an account signed out."
                ),
                action: translator("_Quit"))
        }
    }
}

extension AccountsCoordinator {
    /// Stores the drafts, and waits for what an end of the program would interrupt.
    /// - Parameters:
    ///   - limit: how long to wait.
    ///   - waitsForWork: whether to wait for more than the drafts.
    /// - Returns: what would be lost nevertheless; `nil` if nothing would be.
    public func obstacleToEnding(within limit: Duration, waitsForWork: Bool = true) async -> EndObstacle? {
        let preparation = EndPreparation()
        Task {
            await flushDrafts()
            preparation.areDraftsStored = !hasUnstoredDraft
        }
        let waiting = Task {
            for work in ongoingWork { await work.waitUntilEmpty() }
            preparation.isWorkDone = true
        }
        await time.wait(atMost: limit) { [weak self] in
            guard let areDraftsStored = preparation.areDraftsStored else { return false }
            guard areDraftsStored, waitsForWork else { return true }
            return preparation.isWorkDone && self?.isCopyingFiles != true
        }
        waiting.cancel()
        // What was written while work went on may have failed as well.
        guard preparation.areDraftsStored == true, !hasUnstoredDraft else { return .drafts }
        return isWorking ? .work : nil
    }

    /// Whether an end of the program would interrupt something that is not stored.
    var isWorking: Bool { isCopyingFiles || ongoingWork.contains { !$0.isEmpty } }

    var hasUnstoredDraft: Bool { coordinatorIDs.contains { coordinator(of: $0)?.hasUnstoredDraft == true } }

    private var isCopyingFiles: Bool { coordinatorIDs.contains { coordinator(of: $0)?.isCopyingFiles == true } }

    private var ongoingWork: [OngoingWork] {
        coordinatorIDs.compactMap { coordinator(of: $0)?.environment.ongoingWork }
    }
}

@Observable
private final class EndPreparation {
    /// `nil` until known.
    var areDraftsStored: Bool?
    var isWorkDone = false
}
