/// A comparison of emoji or numbers, by which two devices make sure of each other's keys.
public struct Verification: Identifiable, Equatable, Sendable {
    public typealias ID = String

    public enum Phase: Equatable, Sendable {
        /// The other side asks: ``Action/accept`` or ``Action/cancel``.
        case requested
        /// The other side was asked.
        case waiting
        /// Both sides want it, and keys are being exchanged.
        case preparing
        /// The user compares what both devices show.
        case comparing(emoji: [VerificationEmoji], numbers: [Int])
        /// The user has confirmed, the other side has not yet.
        case confirming
        case done
        case canceled(Cancellation)
    }

    public enum Cancellation: Equatable, Sendable {
        /// By the user here.
        case here
        /// By the other side.
        case there
        case timeout
        /// What was compared does not match: somebody may be listening in.
        case mismatch
        /// Another device of the user has answered.
        case answeredElsewhere
        /// The sides have no way of verification in common.
        case unsupported
        /// What the other side sent makes no sense, or its keys are not those that are known.
        case failed
    }

    public enum Action: Equatable, Sendable {
        case accept
        case cancel
        /// What both devices show is the same.
        case confirmMatch
        case reportMismatch
        /// The user has seen how it ended: it goes.
        case dismiss
    }

    public let id: ID
    /// Whom it is with: the user themselves for their own devices.
    public var user: MemberID
    /// The device on the other side; `nil` while nobody has answered.
    public var device: String?
    /// What that device is called; empty if it was not named.
    public var deviceName: String
    /// Whether it is between devices of the account.
    public var isOwn: Bool
    public var isIncoming: Bool
    public var phase: Phase

    public init(
        id: ID, user: MemberID, device: String? = nil, deviceName: String = "", isOwn: Bool, isIncoming: Bool,
        phase: Phase
    ) {
        self.id = id
        self.user = user
        self.device = device
        self.deviceName = deviceName
        self.isOwn = isOwn
        self.isIncoming = isIncoming
        self.phase = phase
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
    /// In English, as the specification names it; the window translates it.
    public var name: String { Self.all[index].name }

    /// In the order of the specification, "SAS method: emoji".
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
