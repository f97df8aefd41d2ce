public import ChatCore
public import Composer
public import Foundation

/// The way of files into a composer: each is shown at once, copied off the main actor to where it survives a restart,
/// and can be sent when that is done (MIB-36).
public final class AttachmentIntake {
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

    /// Sources of attachments that are on their way begin so; others are a backend's.
    nonisolated static let incoming = "incoming:"

    private let service: any MediaService
    private weak var composer: ComposerViewModel?
    private var waiting: [String: Item] = [:]
    private var tasks: [String: Task<Void, Never>] = [:]

    init(service: any MediaService, composer: ComposerViewModel) {
        self.service = service
        self.composer = composer
    }

    isolated deinit { tasks.values.forEach { $0.cancel() } }

    /// Adds what fits to the tray, in order; the first that does not is told with its reason, and ends it.
    public func add(_ items: [Item]) {
        for item in items where !add(item) { return }
    }

    /// Tries again to copy the attachment at this place.
    public func retry(_ place: Int) {
        guard var attachment = attachment(at: place), attachment.upload == .failed,
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
    public func remove(_ place: Int) {
        guard let attachment = attachment(at: place) else { return }
        composer?.handle(.detach(place))
        guard let source = attachment.source else { return }
        tasks[source]?.cancel()
        tasks[source] = nil
        waiting[source] = nil
    }

    /// Describes the attachment at this place for those who can't see it; nothing but white space takes that back.
    public func describe(_ place: Int, as text: String) {
        guard var attachment = attachment(at: place), let source = attachment.source else { return }
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        attachment.altText = text.isEmpty ? nil : text
        composer?.handle(.updateAttachment(source: source, attachment))
    }

    /// Where a content can be read.
    public func content(of media: MediaReference) async throws -> URL { try await service.content(of: media) }

    /// What a stored draft says is on its way was not finished when the program ended.
    func settleRestored() {
        for attachment in composer?.state.composer.attachments ?? [] where attachment.upload != .ready {
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
        // Before the stored draft was looked for the tray is not there yet; what is refused then is swept away later.
        let isTaken = !composer.state.isReady || composer.state.composer.attachments.contains { $0.source == source }
        if isTaken { copy(item, source) }
        return isTaken
    }

    private func copy(_ item: Item, _ source: String) {
        waiting[source] = item
        let progress = ProgressSteps { [weak self] part in self?.advance(source, to: part) }
        tasks[source] = Task { [weak self, service, inspect] in
            do {
                var reference = try await service.takeIn(item.content, named: item.name, type: item.type) {
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
        let kept = try? await service.takeIn(.data(poster), named: "poster.jpg", type: "image/jpeg") { _ in }
        reference.thumbnailURI = kept?.uri
    }

    private func advance(_ source: String, to part: Double) {
        guard var attachment = attachment(source), case .running(let before) = attachment.upload, part > before else {
            return
        }
        attachment.upload = .running(part)
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

    private func attachment(at place: Int) -> Attachment? {
        guard let attachments = composer?.state.composer.attachments, attachments.indices.contains(place) else {
            return nil
        }
        return attachments[place]
    }

    /// Also one that waits behind an edit.
    private func attachment(_ source: String) -> Attachment? {
        composer?.allAttachments.first { $0.source == source }
    }
}

extension MediaReference {
    /// What a message refers to; nil while the attachment is on its way.
    public nonisolated init?(_ attachment: Attachment) {
        guard attachment.upload == .ready, let source = attachment.source,
            !source.hasPrefix(AttachmentIntake.incoming)
        else { return nil }
        self.init(
            uri: source, name: attachment.name, type: attachment.type, bytes: attachment.bytes,
            width: attachment.width, height: attachment.height, duration: attachment.duration,
            thumbnailURI: attachment.thumbnail, altText: attachment.altText, blurHash: attachment.blurHash)
    }
}
