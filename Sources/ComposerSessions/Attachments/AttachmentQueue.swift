public import ChatCore
public import Composer
public import Foundation

/// Adds files to a composer. Each is shown immediately, copied off the main actor to storage that survives a restart,
/// and can be sent once copied (MIB-36).
public final class AttachmentQueue {
    /// A file or image data to attach.
    public nonisolated struct Item: Sendable {
        /// A file to copy, or the data itself.
        public var content: MediaContent
        /// The file name, which the composer shows and the message keeps.
        public var name: String
        /// The MIME type.
        public var type: String
        /// The size, which is checked against the limit before anything is copied.
        public var bytes: Int

        public init(content: MediaContent, name: String, type: String, bytes: Int) {
            self.content = content
            self.name = name
            self.type = type
            self.bytes = bytes
        }
    }

    /// Inspects a file; returns `nil` if it is not an image, video or audio file.
    public typealias Inspect = @Sendable (_ file: URL, _ type: String) async -> MediaInfo?

    /// Finds out the size, duration, BlurHash and poster of files; without it they stay unknown.
    public var inspect: Inspect?

    /// Stores the copies; `nil` if the host provides no storage.
    public internal(set) var service: (any MediaService)?

    /// The source prefix of attachments still being copied. Backends use other URIs.
    nonisolated static let incoming = "incoming:"

    private let engine: HostedEngine
    private let onOutput: (Output) -> Void
    private var waiting: [String: Item] = [:]
    private var tasks: [String: Task<Void, Never>] = [:]
    /// The copies that ended before the draft was loaded: their attachments are still waiting to be added.
    private var endedEarly: [String: CopyResult] = [:]

    /// How a copy has ended.
    private enum CopyResult {
        case stored(MediaReference)
        case failed
    }

    /// What the queue asks the session to do.
    enum Output {
        case event(ComposerEvent)
        /// Work that is run on the engine.
        case work((inout ComposerEngine, Duration) -> [ComposerEffect])
        case failed(ChatError)
    }

    /// - Parameter engine: the session's, which is only read.
    init(engine: HostedEngine, onOutput: @escaping (Output) -> Void) {
        self.engine = engine
        self.onOutput = onOutput
    }

    isolated deinit { tasks.values.forEach { $0.cancel() } }

    /// The item being offered to the host's input plug-ins.
    private var offered: (source: String, content: MediaContent)?

    /// Whether files are accepted, by the tray or by a plug-in of the host.
    public var acceptsFiles: Bool { service != nil || engine.value.hasInputPlugIns }

    /// Which kinds of pasted or dropped content are accepted as files, and how many files.
    public var limits: AttachmentLimits { engine.configuration.attachments }

    /// Returns the content of the attachment that an input plug-in is being offered, identified by its source (MIB-22).
    public func content(offeredAs source: String) -> MediaContent? {
        offered?.source == source ? offered?.content : nil
    }

    /// Offers items to the host's plug-ins, in order, and adds the others to the tray. Stops at the first item that
    /// does not fit, whose rejection is reported.
    public func add(_ items: [Item]) {
        for item in items where !isHandledByPlugIn(item) {
            guard service != nil, add(item) else { return }
        }
    }

    /// Shows an error to the user.
    public func report(_ error: ChatError) { onOutput(.failed(error)) }

    private func isHandledByPlugIn(_ item: Item) -> Bool {
        guard service == nil || engine.value.hasInputPlugIns else { return false }
        let source = "offered:" + UUID().uuidString
        offered = (source, item.content)
        defer { offered = nil }
        let attachment = Attachment(type: item.type, name: item.name, bytes: item.bytes, source: source)
        return offerToPlugIns(attachment, rejects: service == nil)
    }

    private func offerToPlugIns(_ attachment: Attachment, rejects: Bool) -> Bool {
        var isHandled = false
        onOutput(
            .work { engine, now in
                let effects = engine.offerToPlugIns(attachment, rejectsUnhandled: rejects, at: now)
                isHandled = effects.contains(.observed(.pasted))
                return effects
            })
        return isHandled
    }

    /// Retries copying the attachment at this index.
    public func retry(_ index: Int) {
        guard var attachment = attachment(at: index), attachment.upload == .failed,
            let source = attachment.source, let item = waiting[source]
        else { return }
        attachment.upload = .running(0)
        handle(.updateAttachment(source: source, attachment))
        copy(item, source)
    }

    /// Whether ``retry(_:)`` applies to this attachment.
    public func canRetry(_ attachment: Attachment) -> Bool {
        attachment.upload == .failed && attachment.source.map { waiting[$0] != nil } ?? false
    }

    /// Removes the attachment at this index from the tray and cancels its copy.
    public func remove(_ index: Int) {
        guard let attachment = attachment(at: index) else { return }
        handle(.detach(index))
        guard let source = attachment.source else { return }
        tasks[source]?.cancel()
        tasks[source] = nil
        waiting[source] = nil
    }

    /// Sets the alt text of the attachment at this index; blank text removes it.
    public func describe(_ index: Int, as text: String) {
        // An index from before the draft is loaded would later be that of another attachment.
        guard attachment(at: index) != nil else { return }
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        handle(.describeAttachment(index, text.isEmpty ? nil : text))
    }

    /// Returns the local URL of a file's content.
    public func content(of media: MediaReference) async throws -> URL {
        guard let service else { throw ChatError.notFound }
        return try await service.content(of: media)
    }

    /// Marks uploads of a restored draft as failed, including those set aside during an edit: they ended with the process
    /// that began them.
    func failRestoredUploads() {
        for attachment in engine.makeDraft().allAttachments where attachment.upload != .ready {
            guard let source = attachment.source, tasks[source] == nil else { continue }
            fail(source)
        }
    }

    /// Updates attachments whose copies ended before they were added. Call it once the input that waited for the draft
    /// is replayed.
    func applyEarlyResults() {
        let results = endedEarly
        endedEarly = [:]
        for (source, result) in results { apply(result, to: source) }
    }

    private func handle(_ event: ComposerEvent) { onOutput(.event(event)) }

    // MARK: Copying

    /// - Returns: whether the composer accepted it.
    private func add(_ item: Item) -> Bool {
        let source = Self.incoming + UUID().uuidString
        let attachment = Attachment(
            type: item.type, name: item.name, bytes: item.bytes, source: source, upload: .running(0))
        handle(.attach(attachment))
        let isAccepted = engine.isWaitingForDraft || engine.state.attachments.contains { $0.source == source }
        if isAccepted { copy(item, source) }
        return isAccepted
    }

    private func copy(_ item: Item, _ source: String) {
        guard let service else { return }
        waiting[source] = item
        let progress = ProgressSteps { [weak self] fraction in self?.advance(source, to: fraction) }
        tasks[source] = Task { [weak self, inspect] in
            do {
                var reference = try await service.storeMedia(item.content, named: item.name, type: item.type) {
                    progress.note($0)
                }
                try await Self.addInfo(to: &reference, service, inspect)
                guard !Task.isCancelled else { return }
                self?.finish(source, reference)
            } catch is CancellationError {
                return
            } catch {
                self?.fail(source)
                self?.report(ChatError(error))
            }
        }
    }

    private static func addInfo(
        to reference: inout MediaReference, _ service: any MediaService, _ inspect: Inspect?
    ) async throws {
        guard let inspect,
            let info = await inspect(try await service.content(of: reference), reference.type)
        else { return }
        reference.width = info.size?.width
        reference.height = info.size?.height
        reference.duration = info.duration
        reference.blurHash = info.blurHash
        guard let poster = info.poster else { return }
        // A video can be sent without its poster.
        let storedPoster = try? await service.storeMedia(.data(poster), named: "poster.jpg", type: "image/jpeg") { _ in
        }
        reference.thumbnailURI = storedPoster?.uri
    }

    private func advance(_ source: String, to fraction: Double) {
        guard var attachment = attachment(source), case .running(let before) = attachment.upload, fraction > before
        else {
            return
        }
        attachment.upload = .running(fraction)
        handle(.updateAttachment(source: source, attachment))
    }

    private func finish(_ source: String, _ reference: MediaReference) {
        tasks[source] = nil
        waiting[source] = nil
        apply(.stored(reference), to: source)
    }

    private func fail(_ source: String) {
        tasks[source] = nil
        apply(.failed, to: source)
    }

    private func apply(_ result: CopyResult, to source: String) {
        guard !engine.isWaitingForDraft else {
            endedEarly[source] = result
            return
        }
        // Keep what changed during the copy, such as the alt text and the position.
        guard var attachment = attachment(source) else { return }
        switch result {
        case .stored(let reference):
            attachment.source = reference.uri
            attachment.bytes = reference.bytes ?? attachment.bytes
            attachment.width = reference.width
            attachment.height = reference.height
            attachment.duration = reference.duration
            attachment.thumbnail = reference.thumbnailURI
            attachment.blurHash = reference.blurHash
            attachment.upload = .ready
        case .failed: attachment.upload = .failed
        }
        handle(.updateAttachment(source: source, attachment))
    }

    private func attachment(at index: Int) -> Attachment? {
        let attachments = engine.state.attachments
        return attachments.indices.contains(index) ? attachments[index] : nil
    }

    /// Includes attachments stashed during an edit.
    private func attachment(_ source: String) -> Attachment? {
        engine.makeDraft().allAttachments.first { $0.source == source }
    }
}

extension ComposerDraft {
    /// The attachments in the tray, in the draft stashed during an edit, and of unsent messages.
    var allAttachments: [Attachment] {
        content.attachments + (stash?.attachments ?? []) + (unsent ?? []).flatMap(\.attachments)
    }
}

extension MediaReference {
    /// Refers to the file of an attachment; `nil` while it is being copied.
    public nonisolated init?(_ attachment: Attachment) {
        guard attachment.upload == .ready, let source = attachment.source,
            !source.hasPrefix(AttachmentQueue.incoming)
        else { return nil }
        self.init(
            uri: source, name: attachment.name, type: attachment.type, bytes: attachment.bytes,
            width: attachment.width, height: attachment.height, duration: attachment.duration,
            thumbnailURI: attachment.thumbnail, altText: attachment.altText, blurHash: attachment.blurHash)
    }
}
