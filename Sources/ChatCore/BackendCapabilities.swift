/// What a backend can do beyond what every one can. What it can't is not offered to the user.
public struct BackendCapabilities: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// A room has a topic that members set.
    public static let topic = BackendCapabilities(rawValue: 1 << 0)
    /// The user chooses a name.
    public static let displayName = BackendCapabilities(rawValue: 1 << 1)
    /// Others can be asked into a room.
    public static let invite = BackendCapabilities(rawValue: 1 << 2)
    /// Rooms that the user is not in can be entered.
    public static let join = BackendCapabilities(rawValue: 1 << 3)
    /// Members react to messages.
    public static let reactions = BackendCapabilities(rawValue: 1 << 4)
    /// What a message said before it was edited can be seen.
    public static let editHistory = BackendCapabilities(rawValue: 1 << 5)
    /// A server tells what is behind links, without the linked site learning of the reader.
    public static let linkPreviews = BackendCapabilities(rawValue: 1 << 6)
    /// There are links that lead to messages, wherever they are opened.
    public static let links = BackendCapabilities(rawValue: 1 << 7)
    /// A server tells who is in a room, and who has what say there.
    public static let memberList = BackendCapabilities(rawValue: 1 << 8)
    /// People can be searched for who are in no room of the user's, and rooms be made for them.
    public static let userDirectory = BackendCapabilities(rawValue: 1 << 9)
    /// Others write with other programs: a text without HTML means what it says, whatever signs are in it. Otherwise it is
    /// Markdown.
    public static let plainTexts = BackendCapabilities(rawValue: 1 << 10)
}

/// What is said of a room beside its name.
public struct RoomHeadline: Equatable, Sendable {
    /// What it is about; nil if nobody said.
    public var topic: String?
    /// How many are in it, the user too; nil where nobody counts but who is known of.
    public var memberCount: Int?

    public init(topic: String? = nil, memberCount: Int? = nil) {
        self.topic = topic
        self.memberCount = memberCount
    }
}

/// Where a conversation goes on, or comes from, where one room took the place of another.
public struct RoomSuccession: Equatable, Sendable {
    /// A link to the room in which it goes on; nil while it goes on here.
    public var next: String?
    /// What was said of that.
    public var reason: String?
    /// A link to the room that this one took the place of.
    public var previous: String?

    public init(next: String? = nil, reason: String? = nil, previous: String? = nil) {
        self.next = next
        self.reason = reason
        self.previous = previous
    }
}

/// What some backends do. Whatever is not in ``capabilities`` throws ``ChatError/notPermitted``.
public protocol RoomCapabilityService: Sendable {
    var capabilities: BackendCapabilities { get }
    /// What the room is about; nil if nobody said.
    /// - Throws: ``ChatError/notFound``, or a storage error.
    func topic(of room: RoomID) async throws -> String?
    /// - Parameter topic: at most ``ChatLimits/topicLength`` characters; nil for none.
    /// - Throws: ``ChatError/notFound``, ``ChatError/invalidName`` if it is too long, or a storage error.
    func setTopic(_ topic: String?, of room: RoomID) async throws
    /// What the user is called in all rooms, from now on.
    /// - Throws: ``ChatError/invalidName`` as for a room's name, or a storage error.
    func setDisplayName(_ name: String) async throws
    /// Asks somebody into the room, by identifier or name.
    /// - Throws: ``ChatError/notFound`` if nobody is known by that.
    func invite(_ address: String, to room: RoomID) async throws
    /// A link that leads to the message.
    func link(to message: MessageID, in room: RoomID) async throws -> String
    /// Enters a room by its identifier, address or link.
    func join(_ address: String) async throws -> RoomID
    /// What is behind a link of the room's messages; nil if there is nothing to show, as in an encrypted room.
    func linkPreview(of address: String, in room: RoomID) async throws -> LinkPreview?
    /// The conversation with one user, which is begun if there is none.
    /// - Parameter user: an identifier.
    func openDirect(with user: String) async throws -> RoomID
    /// Whether what is said there is encrypted, which this application cannot do yet: nothing can be sent.
    func isEncrypted(_ room: RoomID) async throws -> Bool
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
    public func succession(of room: RoomID) async throws -> RoomSuccession { RoomSuccession() }
    public func headline(of room: RoomID) async throws -> RoomHeadline {
        RoomHeadline(topic: capabilities.contains(.topic) ? try await topic(of: room) : nil)
    }
}
