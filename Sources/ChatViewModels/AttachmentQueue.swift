public import ChatCore
public import Composer
public import Foundation

/// The way of files into a composer: each is shown at once, copied off the main actor to where it survives a restart,
/// and can be sent when that is done (MIB-36).
public final class AttachmentQueue {
    /// A file or picture that the user wants to send, with what is known of it.
    public nonisolated struct Item: Sendable {
        public var content: MediaContent
        public var name: String
        /// The MIME type.
        public var type: String
        public var bytes: Int

        public init(content: MediaContent, name: String, type: String, bytes: Int) {
            self.content = content
            self.name = name
            self.type = type
            self.bytes = bytes
        }
    }

    /// What is known of a picture, a film or a sound before it is shown.
    public nonisolated struct Traits: Sendable {
        /// In pixels.
        public var size: (width: Int, height: Int)?
        /// In milliseconds.
        public var duration: Int?
        public var blurHash: String?
        /// A frame of a film, as a JPEG.
        public var poster: Data?

        public init(
            size: (width: Int, height: Int)? = nil, duration: Int? = nil, blurHash: String? = nil, poster: Data? = nil
        ) {
            self.size = size
            self.duration = duration
            self.blurHash = blurHash
            self.poster = poster
        }
    }

    /// Looks at a file; nil if it is none of these.
    public typealias Inspect = @Sendable (_ file: URL, _ type: String) async -> Traits?

    /// How traits are found out; without it nobody knows them.
    public var inspect: Inspect?

    /// Where copies are kept; nil keeps none.
    public internal(set) var service: (any MediaService)?

    /// Sources of attachments that are on their way begin so; others are a backend's.
    nonisolated static let incoming = "incoming:"

    private weak var composer: (any AttachmentHolder)?
    private var waiting: [String: Item] = [:]
    private var tasks: [String: Task<Void, Never>] = [:]

    init(service: (any MediaService)?, composer: any AttachmentHolder) {
        self.service = service
        self.composer = composer
    }

    isolated deinit { tasks.values.forEach { $0.cancel() } }

    /// What is being offered to the host's input plug-ins.
    private var offered: (source: String, content: MediaContent)?

    /// Whether there is anybody who takes files: the tray, or a plug-in of the host.
    public var acceptsFiles: Bool { service != nil || composer?.hasInputPlugIns ?? false }

    /// Which forms of what is pasted or dropped are taken as files, and how many files.
    public var limits: AttachmentLimits { composer?.configuration.attachments ?? AttachmentLimits() }

    /// The content of the attachment that an input plug-in is asked about just now, by its source (MIB-22).
    public func content(offeredAs source: String) -> MediaContent? {
        offered?.source == source ? offered?.content : nil
    }

    /// Has the host's plug-ins take what they want, in order, and adds of the rest what fits to the tray; the first that
    /// does not is told with its reason, and ends it.
    public func add(_ items: [Item]) {
        for item in items where !isHandledByPlugIn(item) {
            guard service != nil, add(item) else { return }
        }
    }

    /// Tells the user why something could not be done.
    public func report(_ error: ChatError) { composer?.report(error) }

    private func isHandledByPlugIn(_ item: Item) -> Bool {
        guard let composer, service == nil || composer.hasInputPlugIns else { return false }
        let source = "offered:" + UUID().uuidString
        offered = (source, item.content)
        defer { offered = nil }
        let attachment = Attachment(type: item.type, name: item.name, bytes: item.bytes, source: source)
        return composer.offerToPlugIns(attachment, rejects: service == nil)
    }

    /// Tries again to copy the attachment at this place.
    public func retry(_ index: Int) {
        guard var attachment = attachment(at: index), attachment.upload == .failed,
            let source = attachment.source, let item = waiting[source]
        else { return }
        attachment.upload = .running(0)
        composer?.handle(.updateAttachment(source: source, attachment))
        copy(item, source)
    }

    /// Whether ``retry(_:)`` can do anything for this attachment.
    public func canRetry(_ attachment: Attachment) -> Bool {
        attachment.upload == .failed && attachment.source.map { waiting[$0] != nil } ?? false
    }

    /// Takes the attachment at this place out of the tray and stops copying it.
    public func remove(_ index: Int) {
        guard let attachment = attachment(at: index) else { return }
        composer?.handle(.detach(index))
        guard let source = attachment.source else { return }
        tasks[source]?.cancel()
        tasks[source] = nil
        waiting[source] = nil
    }

    /// Describes the attachment at this place for those who can't see it; nothing but white space takes that back.
    public func describe(_ index: Int, as text: String) {
        guard var attachment = attachment(at: index), let source = attachment.source else { return }
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        attachment.altText = text.isEmpty ? nil : text
        composer?.handle(.updateAttachment(source: source, attachment))
    }

    /// Where a content can be read.
    public func content(of media: MediaReference) async throws -> URL {
        guard let service else { throw ChatError.notFound }
        return try await service.content(of: media)
    }

    /// What a stored draft says is on its way was not finished when the program ended.
    func failRestoredUploads() {
        for attachment in composer?.composer.attachments ?? [] where attachment.upload != .ready {
            guard let source = attachment.source, tasks[source] == nil else { continue }
            fail(source)
        }
    }

    // MARK: Copying

    /// - Returns: false if the composer refused it.
    private func add(_ item: Item) -> Bool {
        guard let composer else { return false }
        let source = Self.incoming + UUID().uuidString
        let attachment = Attachment(
            type: item.type, name: item.name, bytes: item.bytes, source: source, upload: .running(0))
        composer.handle(.attach(attachment))
        let isAccepted = !composer.acceptsAttachments || composer.composer.attachments.contains { $0.source == source }
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
                try await Self.addTraits(to: &reference, service, inspect)
                guard !Task.isCancelled else { return }
                self?.finish(source, reference)
            } catch is CancellationError {
                return
            } catch {
                self?.fail(source)
                self?.composer?.report(ChatError(error))
            }
        }
    }

    private static func addTraits(
        to reference: inout MediaReference, _ service: any MediaService, _ inspect: Inspect?
    ) async throws {
        guard let inspect,
            let traits = await inspect(try await service.content(of: reference), reference.type)
        else { return }
        reference.width = traits.size?.width
        reference.height = traits.size?.height
        reference.duration = traits.duration
        reference.blurHash = traits.blurHash
        guard let poster = traits.poster else { return }
        // Without it the film is as good.
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
        composer?.handle(.updateAttachment(source: source, attachment))
    }

    private func finish(_ source: String, _ reference: MediaReference) {
        tasks[source] = nil
        waiting[source] = nil
        // What became of it meanwhile stays: its description, its place.
        guard var attachment = attachment(source) else { return }
        attachment.source = reference.uri
        attachment.bytes = reference.bytes ?? attachment.bytes
        attachment.width = reference.width
        attachment.height = reference.height
        attachment.duration = reference.duration
        attachment.thumbnail = reference.thumbnailURI
        attachment.blurHash = reference.blurHash
        attachment.upload = .ready
        composer?.handle(.updateAttachment(source: source, attachment))
    }

    private func fail(_ source: String) {
        tasks[source] = nil
        guard var attachment = attachment(source) else { return }
        attachment.upload = .failed
        composer?.handle(.updateAttachment(source: source, attachment))
    }

    private func attachment(at index: Int) -> Attachment? {
        guard let attachments = composer?.composer.attachments, attachments.indices.contains(index) else {
            return nil
        }
        return attachments[index]
    }

    /// Also one that waits behind an edit.
    private func attachment(_ source: String) -> Attachment? {
        composer?.allAttachments.first { $0.source == source }
    }
}

/// A composer that files can be added to.
protocol AttachmentHolder: ComposerModel {
    /// What is in the tray, and what waits behind an edit.
    var allAttachments: [Attachment] { get }
    /// Whether what is added is in the tray at once; what can't be there yet is not refused.
    var acceptsAttachments: Bool { get }
    func report(_ error: ChatError)
}

extension ComposerModel {
    fileprivate var hasInputPlugIns: Bool {
        var has = false
        withEngine { engine, _ in
            has = engine.hasInputPlugIns
            return []
        }
        return has
    }

    fileprivate func offerToPlugIns(_ attachment: Attachment, rejects: Bool) -> Bool {
        var isHandled = false
        withEngine { engine, now in
            let effects = engine.offerToPlugIns(attachment, rejectsUnhandled: rejects, at: now)
            isHandled = effects.contains(.observed(.pasted))
            return effects
        }
        return isHandled
    }
}

extension ComposerDraft {
    /// What is in the tray, what waits behind an edit, and what was not sent.
    var allAttachments: [Attachment] {
        content.attachments + (stash?.attachments ?? []) + (unsent ?? []).flatMap(\.attachments)
    }
}

extension MediaReference {
    /// What a message refers to; nil while the attachment is on its way.
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
