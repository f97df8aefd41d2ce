/// A comparison of emoji or numbers that verifies the keys of two devices.
public struct Verification: Identifiable, Equatable, Sendable {
    public typealias ID = String

    public enum Phase: Equatable, Sendable {
        /// The other side has asked; answer with ``Action/accept`` or ``Action/cancel``.
        case requested
        /// The other side has been asked and has not answered.
        case waiting
        /// Both sides have agreed, and keys are being exchanged.
        case preparing
        /// The user compares what both devices show.
        case comparing(emoji: [VerificationEmoji], numbers: [Int])
        /// The user has confirmed the match, and the other side has not.
        case confirming
        case done
        case canceled(Cancellation)
    }

    public enum Cancellation: CaseIterable, Equatable, Sendable {
        /// Canceled by the user.
        case here
        /// Canceled by the other side.
        case there
        case timeout
        /// The emoji or numbers do not match: the connection may be intercepted.
        case mismatch
        /// Another device of the user has answered.
        case answeredElsewhere
        /// The sides have no verification method in common.
        case unsupported
        /// This device is not confirmed, so its user's statements carry no weight; nor, if it is one of the user's
        /// own, is the other device.
        case unconfirmedHere
        /// The other side is not confirmed by its own user.
        case unconfirmedThere
        /// This device lacks the key that confirms other devices.
        case keyMissing
        /// The other side sent invalid messages, or other keys than are known.
        case failed
        /// A message cannot be sent, as the server rejects it.
        case undeliverable
        /// The server rejects the signature. A device is not confirmed without it; another user stays verified on this
        /// device, but the user's other devices do not learn of it.
        case signatureRejected
    }

    public enum Action: Equatable, Sendable {
        case accept
        case cancel
        /// The user confirms that both devices show the same.
        case confirmMatch
        case reportMismatch
        /// The user has seen the outcome: removes the verification.
        case dismiss
    }

    public let id: ID
    /// The other user, or the user themselves for a verification of their own devices.
    public var user: MemberID
    /// The device on the other side; `nil` until one has answered.
    public var device: String?
    /// The name of that device; empty if unnamed.
    public var deviceName: String
    /// Whether both devices belong to the account.
    public var isOwn: Bool
    public var isIncoming: Bool
    public var phase: Phase
    /// Whether the last message could not be sent so far. It is sent once the server can be reached.
    public var isUnsent: Bool

    public init(
        id: ID, user: MemberID, device: String? = nil, deviceName: String = "", isOwn: Bool, isIncoming: Bool,
        phase: Phase, isUnsent: Bool = false
    ) {
        self.id = id
        self.user = user
        self.device = device
        self.deviceName = deviceName
        self.isOwn = isOwn
        self.isIncoming = isIncoming
        self.phase = phase
        self.isUnsent = isUnsent
    }

    public var hasEnded: Bool {
        switch phase {
        case .done, .canceled: true
        case .requested, .waiting, .preparing, .comparing, .confirming: false
        }
    }
}

/// One of the 64 emoji of Matrix's short authentication strings.
public struct VerificationEmoji: Equatable, Sendable {
    /// 0 to 63.
    public let index: Int

    public init?(index: Int) {
        guard Self.all.indices.contains(index) else { return nil }
        self.index = index
    }

    public var symbol: String { Self.all[index].symbol }
    /// The specification's English name, which the user interface translates.
    public var name: String { Self.all[index].name }

    /// The specification's table ("SAS method: emoji"), in order.
    public static let all: [(symbol: String, name: String)] = [
        ("🐶", "Dog"), ("🐱", "Cat"), ("🦁", "Lion"), ("🐎", "Horse"), ("🦄", "Unicorn"), ("🐷", "Pig"),
        ("🐘", "Elephant"), ("🐰", "Rabbit"), ("🐼", "Panda"), ("🐓", "Rooster"), ("🐧", "Penguin"), ("🐢", "Turtle"),
        ("🐟", "Fish"), ("🐙", "Octopus"), ("🦋", "Butterfly"), ("🌷", "Flower"), ("🌳", "Tree"), ("🌵", "Cactus"),
        ("🍄", "Mushroom"), ("🌏", "Globe"), ("🌙", "Moon"), ("☁️", "Cloud"), ("🔥", "Fire"), ("🍌", "Banana"),
        ("🍎", "Apple"), ("🍓", "Strawberry"), ("🌽", "Corn"), ("🍕", "Pizza"), ("🎂", "Cake"), ("❤️", "Heart"),
        ("😀", "Smiley"), ("🤖", "Robot"), ("🎩", "Hat"), ("👓", "Glasses"), ("🔧", "Spanner"), ("🎅", "Santa"),
        ("👍", "Thumbs Up"), ("☂️", "Umbrella"), ("⌛", "Hourglass"), ("⏰", "Clock"), ("🎁", "Gift"),
        ("💡", "Light Bulb"), ("📕", "Book"), ("✏️", "Pencil"), ("📎", "Paperclip"), ("✂️", "Scissors"), ("🔒", "Lock"),
        ("🔑", "Key"), ("🔨", "Hammer"), ("☎️", "Telephone"), ("🏁", "Flag"), ("🚂", "Train"), ("🚲", "Bicycle"),
        ("✈️", "Aeroplane"), ("🚀", "Rocket"), ("🏆", "Trophy"), ("⚽", "Ball"), ("🎸", "Guitar"), ("🎺", "Trumpet"),
        ("🔔", "Bell"), ("⚓", "Anchor"), ("🎧", "Headphones"), ("📁", "Folder"), ("📌", "Pin"),
    ]
}
