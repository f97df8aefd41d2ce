import ChatCore
import Composer
import ComposerSessions

/// Has the service measure long texts, as only it knows the size of the event that a message becomes (SLK-14).
/// Works off the main actor; of the texts waiting, it measures only the newest.
final class MessageMeter {
    private nonisolated struct Sample: Sendable {
        var document: ComposerDocument
        var revision: Int
        var attachments: [Attachment]
        var isEdit: Bool
    }

    /// Texts up to this many bytes fit every service's limit and are not measured.
    private static let measuredBytes = 1_000

    private let service: any MessageService & DraftService
    private let roomID: RoomID
    /// Receives the size of the current text; `nil` if the limit is far off.
    private let onMeasured: (MeasuredSize?) -> Void
    /// The revision last measured, or known to need no measuring.
    private var revision = 0
    private lazy var samples = LatestValueSink<Sample> { [weak self] in await self?.measure($0) }

    init(
        _ service: any MessageService & DraftService, in room: RoomID, onMeasured: @escaping (MeasuredSize?) -> Void
    ) {
        self.service = service
        roomID = room
        self.onMeasured = onMeasured
    }

    /// Measures a text that changed, if it is long.
    func update(_ document: ComposerDocument, _ state: ComposerState) {
        guard state.revision != revision else { return }
        revision = state.revision
        if document.byteCount > Self.measuredBytes {
            samples.put(
                Sample(
                    document: document, revision: revision, attachments: state.attachments,
                    isEdit: state.editing != nil))
        } else if state.counter != nil {
            onMeasured(nil)
        }
    }

    private func measure(_ sample: Sample) async {
        guard sample.revision == revision else { return }
        let files = sample.attachments.compactMap { MediaReference($0) }
        let excess = await Self.excess(
            of: sample.document, files, service, isEdit: sample.isEdit, in: roomID)
        // The text has changed; the newer revision is measured separately.
        guard sample.revision == revision else { return }
        onMeasured(MeasuredSize(excess: excess, bytes: sample.document.byteCount))
    }

    @concurrent
    private static func excess(
        of document: ComposerDocument, _ files: [MediaReference], _ service: any MessageService & DraftService,
        isEdit: Bool, in room: RoomID
    ) async -> Int { service.excess(of: WrittenMessage(document.written, files: files), isEdit: isEdit, in: room) }
}
