public import ChatCore

/// The texts about the identities of others.
public struct IdentityText {
    private let translator: Translator

    public init(_ translator: Translator) {
        self.translator = translator
    }

    public var windowTitle: String { translator("Identity") }

    public func title(_ state: IdentityViewModel.State) -> String {
        switch state.identity {
        case .unknown: state.problem == nil ? translator("Not Known Yet") : translator("Encryption Not Available")
        case .none: translator("No Encryption")
        case .unverified: translator("Not Verified")
        case .changed, .changedAfterVerification: translator("Identity Changed")
        case .verified: translator("Verified")
        }
    }

    public func explanation(_ state: IdentityViewModel.State) -> String {
        let name = ["name": state.name]
        switch state.identity {
        case .unknown:
            return state.problem.map { EncryptionText(translator).text(for: $0) }
                ?? translator("The server has not reported yet which identity {name} has.", name)
        case .none:
            return translator(
                "{name} has not set up encryption and cannot read what you send in encrypted rooms.", name)
        case .unverified:
            return state.isDeviceConfirmed
                ? translator("Verify {name} to be sure that no one else reads your messages.", name)
                : translator("Confirm this device to verify {name}.", name)
        case .changed:
            return translator(
                "{name} has reset their identity, or someone else is using their account. Verify {name} or accept the new identity.",
                name)
        case .changedAfterVerification:
            return translator(
                "You verified {name}, and their identity has changed since. Messages are not sent to rooms with {name} until you verify or accept the new identity.",
                name)
        case .verified: return translator("You have verified {name}. Parlance warns you if this changes.", name)
        }
    }

    /// What screen readers are told of the identity.
    public func announcement(_ state: IdentityViewModel.State) -> String {
        [title(state), explanation(state)].joined(separator: "\n")
    }

    /// The question before accepting a new identity without verification.
    public func accepting(_ state: IdentityViewModel.State) -> ConfirmationText {
        ConfirmationText(
            heading: translator("Accept New Identity?"),
            body: translator(
                "If you are not sure that {name} has reset their identity, verify them instead.", ["name": state.name]),
            action: translator("_Accept"))
    }

    // MARK: In the room

    public func notice(_ notice: RoomTrustViewModel.Notice, _ name: (MemberID) -> String) -> String {
        switch notice {
        case .ownReplaced:
            translator("Messages are not sent: your account has a new identity, which has not confirmed this device.")
        case .holding(let user, let others):
            others == 0
                ? translator(
                    "Messages are not sent: the identity of {name} changed after you verified it.",
                    ["name": name(user)])
                : translator.plural(
                    "Messages are not sent: the identities of {name} and {count} other changed after you verified them.",
                    "Messages are not sent: the identities of {name} and {count} others changed after you verified them.",
                    others, ["name": name(user)])
        case .changed(let user, let others):
            others == 0
                ? translator("The identity of {name} has changed.", ["name": name(user)])
                : translator.plural(
                    "The identities of {name} and {count} other have changed.",
                    "The identities of {name} and {count} others have changed.", others, ["name": name(user)])
        case .withoutIdentity(let users): missing(users, name)
        }
    }

    private func missing(_ users: [MemberID], _ name: (MemberID) -> String) -> String {
        let names = users.prefix(Self.maxNames).map(name).joined(separator: ", ")
        let others = users.count - min(users.count, Self.maxNames)
        guard others > 0 else {
            return translator(
                "Members who cannot read what you send, as they have not set up encryption: {names}", ["names": names])
        }
        return translator.plural(
            "Members who cannot read what you send, as they have not set up encryption: {names}, and {count} other",
            "Members who cannot read what you send, as they have not set up encryption: {names}, and {count} others",
            others, ["names": names])
    }

    /// The maximum number of members named.
    private static let maxNames = 5

    /// The label of the warning's button.
    /// - Parameter isInOwnWindow: whether the room has a window of its own. In the main window, the banner above the room
    ///   list has the same button: a mnemonic that both had would only move the focus between them.
    public func button(_ notice: RoomTrustViewModel.Notice, isInOwnWindow: Bool) -> String {
        switch notice {
        case .ownReplaced where isInOwnWindow: translator("_Confirm…")
        case .ownReplaced: translator("_Confirm…").replacing("_", with: "")
        case .holding, .changed: translator("_Review…")
        case .withoutIdentity: translator("_OK")
        }
    }
}

extension UserIdentity {
    public nonisolated var iconName: String {
        switch self {
        case .unknown, .none, .unverified: "parlance-unproven-symbolic"
        case .changed, .changedAfterVerification: "parlance-warning-symbolic"
        case .verified: "parlance-verified-symbolic"
        }
    }

    /// Whether the user has to decide.
    public nonisolated var isChanged: Bool { newKey != nil }
}
