/// The optional features of a backend. The user interface hides those that are missing.
public struct BackendCapabilities: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Rooms have a topic that can be set.
    public static let topic = BackendCapabilities(rawValue: 1 << 0)
    /// The user can choose a display name.
    public static let displayName = BackendCapabilities(rawValue: 1 << 1)
    /// Others can be invited into a room.
    public static let invite = BackendCapabilities(rawValue: 1 << 2)
    /// The user can join rooms by address.
    public static let join = BackendCapabilities(rawValue: 1 << 3)
    /// Messages can have reactions.
    public static let reactions = BackendCapabilities(rawValue: 1 << 4)
    /// Earlier versions of edited messages are available.
    public static let editHistory = BackendCapabilities(rawValue: 1 << 5)
    /// The server provides link previews, which hides the user from the linked site.
    public static let linkPreviews = BackendCapabilities(rawValue: 1 << 6)
    /// Messages have permanent links that work on any device.
    public static let links = BackendCapabilities(rawValue: 1 << 7)
    /// The server provides member lists and power levels.
    public static let memberList = BackendCapabilities(rawValue: 1 << 8)
    /// The server has a user directory, and the user can create rooms with those found.
    public static let userDirectory = BackendCapabilities(rawValue: 1 << 9)
    /// Messages may come from other clients: a body without HTML is plain text, whatever characters it contains.
    /// Without this it is Markdown.
    public static let plainTexts = BackendCapabilities(rawValue: 1 << 10)
    /// The user can choose what notifies, by room and by keyword, for all devices.
    public static let notificationSettings = BackendCapabilities(rawValue: 1 << 11)
    /// The backend always says when others stop typing, and does not repeat that they type.
    public static let typingEnds = BackendCapabilities(rawValue: 1 << 12)
}

/// A room's header information besides its name.
public struct RoomHeadline: Equatable, Sendable {
    /// Kinds of messages that need a permission of their own.
    public struct MessageKinds: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let unencrypted = MessageKinds(rawValue: 1 << 0)
        public static let encrypted = MessageKinds(rawValue: 1 << 1)
    }

    /// The room's topic, if any.
    public var topic: String?
    /// The number of joined members including the user; `nil` if only the known members can be counted.
    public var memberCount: Int?
    /// The messages that the user certainly may not send.
    public var forbiddenMessages: MessageKinds

    public init(topic: String? = nil, memberCount: Int? = nil, forbiddenMessages: MessageKinds = []) {
        self.topic = topic
        self.memberCount = memberCount
        self.forbiddenMessages = forbiddenMessages
    }
}

/// The rooms that a room upgrade links.
public struct RoomSuccession: Equatable, Sendable, Codable {
    /// A link to the replacement room, or `nil` if the room was not upgraded.
    public var next: String?
    /// The body of the tombstone event.
    public var reason: String?
    /// A link to the predecessor room.
    public var previous: String?

    public init(next: String? = nil, reason: String? = nil, previous: String? = nil) {
        self.next = next
        self.reason = reason
        self.previous = previous
    }
}

/// Optional room features. Methods whose feature is not in ``capabilities`` throw ``ChatError/notPermitted``.
public protocol RoomCapabilityService: Sendable {
    var capabilities: BackendCapabilities { get }
    /// Returns the room's topic, if any.
    /// - Throws: ``ChatError/notFound``, or a storage error.
    func topic(of room: RoomID) async throws -> String?
    /// Sets the room's topic.
    /// - Parameter topic: At most ``ChatLimits/topicLength`` characters; `nil` removes the topic.
    /// - Throws: ``ChatError/notFound``, ``ChatError/invalidName`` if it is too long, or a storage error.
    func setTopic(_ topic: String?, of room: RoomID) async throws
    /// Sets the user's display name in all rooms.
    /// - Throws: ``ChatError/invalidName`` as for a room's name, or a storage error.
    func setDisplayName(_ name: String) async throws
    /// Invites a user into the room, by identifier or name.
    /// - Throws: ``ChatError/notFound`` if there is no such user.
    func invite(_ address: String, to room: RoomID) async throws
    /// Returns a permanent link to the message.
    func link(to message: MessageID, in room: RoomID) async throws -> String
    /// Joins a room by its identifier, address or link.
    func join(_ address: String) async throws -> RoomID
    /// Returns the preview of a link in the room's messages, or `nil` if there is none, as in encrypted rooms.
    func linkPreview(of address: String, in room: RoomID) async throws -> LinkPreview?
    /// Returns the direct chat with a user, creating it if needed.
    /// - Parameter user: The user's identifier.
    func openDirect(with user: String) async throws -> RoomID
    /// Returns whether the room's messages are end-to-end encrypted.
    func isEncrypted(_ room: RoomID) async throws -> Bool
    /// Returns whether it is certain that the room is not encrypted, whereas ``isEncrypted(_:)`` may be outdated.
    /// - Throws: If this cannot be determined.
    func confirmsUnencrypted(_ room: RoomID) async throws -> Bool
    /// Permanently encrypts what is sent into the room from now on.
    /// - Throws: ``ChatError/encryptionUnavailable``, or the server's error.
    func enableEncryption(in room: RoomID) async throws
    func succession(of room: RoomID) async throws -> RoomSuccession
    func headline(of room: RoomID) async throws -> RoomHeadline
}

extension RoomCapabilityService {
    public var capabilities: BackendCapabilities { [] }
    public func topic(of room: RoomID) async throws -> String? { throw ChatError.notPermitted }
    public func setTopic(_ topic: String?, of room: RoomID) async throws { throw ChatError.notPermitted }
    public func setDisplayName(_ name: String) async throws { throw ChatError.notPermitted }
    public func invite(_ address: String, to room: RoomID) async throws { throw ChatError.notPermitted }
    public func link(to message: MessageID, in room: RoomID) async throws -> String { throw ChatError.notPermitted }
    public func join(_ address: String) async throws -> RoomID { throw ChatError.notPermitted }
    public func linkPreview(of address: String, in room: RoomID) async throws -> LinkPreview? {
        throw ChatError.notPermitted
    }
    public func openDirect(with user: String) async throws -> RoomID { throw ChatError.notPermitted }
    public func isEncrypted(_ room: RoomID) async throws -> Bool { false }
    /// For a backend without encryption.
    public func confirmsUnencrypted(_ room: RoomID) async throws -> Bool { true }
    public func enableEncryption(in room: RoomID) async throws { throw ChatError.notPermitted }
    public func succession(of room: RoomID) async throws -> RoomSuccession { RoomSuccession() }
    public func headline(of room: RoomID) async throws -> RoomHeadline {
        RoomHeadline(topic: capabilities.contains(.topic) ? try await topic(of: room) : nil)
    }
}
