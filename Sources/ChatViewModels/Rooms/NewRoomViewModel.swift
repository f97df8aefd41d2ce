public import ChatCore
import Foundation
public import Observation

/// The dialog that creates a room.
@Observable
public final class NewRoomViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var name = ""
        public var topic = ""
        /// Whether anyone can find and join it.
        public var isPublic = false
        /// Whether the user wants an encrypted room, which is then created only encrypted.
        public var isEncryptionRequested = true
        /// Why the account cannot encrypt; `nil` if it can.
        public var encryptionProblem: EncryptionCondition.Problem?
        /// The local part of the alias, such as `garden` in `#garden:example.org`.
        public var address = ""
        /// The alias's server name with its colon.
        public var server = ""
        /// Whether the user edited the alias, which then no longer follows the name.
        public var hasCustomAddress = false
        public var isCreating = false
        /// The room once it was created, so that the dialog can close.
        public var created: RoomID?
        public var error: ChatError?

        /// Whether the user decides on encryption. Rooms that anyone can join gain nothing from it.
        public var canChooseEncryption: Bool { !isPublic && encryptionProblem != .notBuilt }
        public var isEncrypted: Bool { canChooseEncryption && isEncryptionRequested }
        /// Whether the room would have to be encrypted and cannot be: it is not created then.
        public var lacksEncryption: Bool { isEncrypted && encryptionProblem != nil }

        public var isCreated: Bool { created != nil }
        public var isAddressValid: Bool { !isPublic || RoomRequest.isValidAddress(address) }
        /// Whether a name was entered that is too long or blank.
        public var isNameInvalid: Bool { !name.isEmpty && RoomName.valid(name) == nil }
        public var isTopicTooLong: Bool { topic.count > ChatLimits.topicLength }
        public var canCreate: Bool {
            !isCreating && RoomName.valid(name) != nil && !isTopicTooLong && isAddressValid && !lacksEncryption
        }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case name(String)
        case topic(String)
        case setPublic(Bool)
        case setEncrypted(Bool)
        case address(String)
        case create
    }

    public let userSearch: UserSearchViewModel
    public private(set) var state: State
    @ObservationIgnored private let onCreated: (RoomID) -> Void
    @ObservationIgnored private let onFailure: (ChatError) -> Void
    @ObservationIgnored private var isAbandoned = false
    @ObservationIgnored private var condition: ChangeSubscription?
    @ObservationIgnored private let service: any RoomMembersService

    /// - Parameters:
    ///   - ownUserID: determines the server of the alias.
    ///   - encryption: returns whether the account can encrypt, observed.
    ///   - onFailure: receives an error that occurs after ``abandon()``.
    public init(
        service: any RoomMembersService, ownUserID: MemberID?,
        encryption: @escaping @MainActor @Sendable () -> EncryptionCondition = { .none },
        onCreated: @escaping (RoomID) -> Void = { _ in },
        onFailure: @escaping (ChatError) -> Void = { _ in }
    ) {
        self.service = service
        self.onCreated = onCreated
        self.onFailure = onFailure
        userSearch = UserSearchViewModel(service: service, excluding: Set([ownUserID].compactMap { $0 }))
        let id = ownUserID?.rawValue ?? ""
        state = State(
            encryptionProblem: encryption().problem, server: id.firstIndex(of: ":").map { String(id[$0...]) } ?? "")
        // The user may unlock the keyring meanwhile.
        condition = ChangeSubscription(to: encryption) { [weak self] condition in
            guard let self, state.encryptionProblem != condition.problem else { return }
            state.encryptionProblem = condition.problem
        }
    }

    public func send(_ action: Action) {
        switch action {
        case .name(let name):
            state.name = name
            if !state.hasCustomAddress { state.address = Self.address(for: name) }
        case .topic(let topic): state.topic = topic
        case .setPublic(let isPublic): state.isPublic = isPublic
        case .setEncrypted(let isEncrypted):
            // Otherwise the switch does not reflect the user's wish.
            if state.canChooseEncryption { state.isEncryptionRequested = isEncrypted }
        case .address(let address):
            guard address != state.address else { return }
            state.address = address
            state.hasCustomAddress = !address.isEmpty
        case .create: create()
        }
    }

    private func create() {
        guard state.canCreate else { return }
        state.isCreating = true
        state.error = nil
        let topic = state.topic.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let typed = RoomRequest(
            name: state.name, topic: topic.isEmpty ? nil : topic, address: state.isPublic ? state.address : nil,
            isEncrypted: state.isEncrypted)
        // The server creates the room even if the dialog is closed.
        Task { [self, service] in
            await userSearch.waitForChoice()
            var request = typed
            request.invitees = userSearch.state.chosen.map(\.id)
            do {
                let room = try await service.createRoom(request)
                if !isAbandoned { onCreated(room) }
                state.created = room
            } catch {
                state.error = ChatError(error)
                if isAbandoned { onFailure(ChatError(error)) }
            }
            state.isCreating = false
        }
    }

    /// Call when the dialog is closed: a room still being created is then not opened.
    public func abandon() { isAbandoned = true }

    /// Derives an alias from the name, using ASCII letters, digits and hyphens.
    static func address(for name: String) -> String {
        let plain = name.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars.map {
            scalar -> Character in
            scalar.isASCII && Character(scalar).isLetter || scalar.isASCII && Character(scalar).isNumber
                ? Character(scalar) : scalar.properties.canonicalCombiningClass == .notReordered ? "-" : "\0"
        }
        return String(plain.filter { $0 != "\0" }).split(separator: "-").joined(separator: "-")
    }
}
