public import ChatCore
public import Foundation

/// Exports rooms of any backend, and imports conversations into one that supports it.
public struct RoomArchive: ConversationArchive {
    public typealias Source = TimelineService & MediaService & AnnotationService & RoomCapabilityService

    private let source: any Source
    private let destination: any ImportService & MediaService
    private let zone: TimeZone
    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>
    private let emoji: @Sendable (String) -> String?

    /// Creates an archive.
    /// - Parameters:
    ///   - zone: The time zone of imported times without one, and of times displayed in exports.
    ///   - clock: The clock for delays between repeated requests.
    ///   - emoji: Returns the emoji for a short code as Slack writes it, `+1` or `+1::skin-tone-2`; `nil` for custom
    ///     emoji.
    public init(
        source: any Source, destination: any ImportService & MediaService, zone: TimeZone = .current,
        now: @escaping @Sendable () -> Date = { Date() }, clock: any Clock<Duration> = ContinuousClock(),
        emoji: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.source = source
        self.destination = destination
        self.zone = zone
        self.now = now
        self.clock = clock
        self.emoji = emoji
    }

    @concurrent
    public func export(
        _ room: RoomID, named name: String, as format: ExportFormat, into folder: URL,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> ExportReport {
        let exporter = RoomExporter(
            room: room, name: name, format: format, service: source, zone: zone, now: now(),
            retry: RequestRetry(clock: clock), progress: progress)
        return try await exporter.run(into: folder)
    }

    @concurrent
    public func importConversations(
        from url: URL, resolveRepeats: @escaping @Sendable ([EarlierImport]) async throws -> RepeatedImport,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> ImportReport {
        let plan = try await ImportPlan(of: url, zone: zone, emoji: emoji)
        let importer = await ConversationImporter(
            plan, service: destination, resolveRepeats: resolveRepeats, progress: progress)
        return try await importer.run()
    }
}
