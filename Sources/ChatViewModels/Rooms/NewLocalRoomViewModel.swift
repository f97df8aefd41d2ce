public import Observation

/// The dialog that creates a room on this computer.
@Observable
public final class NewLocalRoomViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var name = ""

        public var canCreate: Bool { RoomName.valid(name) != nil }
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// The name as it is typed.
        case name(String)
        case create
    }

    public private(set) var state = State()
    @ObservationIgnored private let onCreate: (String) -> Void

    /// - Parameter onCreate: receives the valid name of the room to create.
    public init(onCreate: @escaping (String) -> Void) {
        self.onCreate = onCreate
    }

    public func send(_ action: Action) {
        switch action {
        case .name(let name): state.name = name
        case .create: if let name = RoomName.valid(state.name) { onCreate(name) }
        }
    }
}
