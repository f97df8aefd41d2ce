import ChatCore
public import Observation

/// The dialog that asks for the address of a room or user.
@Observable
public final class AddressViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var address = ""

        public var canOpen: Bool { ChatAddress(address) != nil }
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// The address as it is typed.
        case address(String)
        case open
    }

    public private(set) var state = State()
    @ObservationIgnored private let onOpen: (String) -> Void

    /// - Parameter onOpen: receives the address to open, which is valid.
    public init(onOpen: @escaping (String) -> Void) {
        self.onOpen = onOpen
    }

    public func send(_ action: Action) {
        switch action {
        case .address(let address): state.address = address
        case .open: if state.canOpen { onOpen(state.address) }
        }
    }
}
