public import ChatCore

/// What a dialog says that asks for confirmation of a destructive action.
public nonisolated struct ConfirmationText: Equatable, Sendable {
    public var heading: String
    public var body: String
    /// The label of the button that confirms, with a mnemonic.
    public var action: String

    public init(heading: String, body: String, action: String) {
        self.heading = heading
        self.body = body
        self.action = action
    }

    /// - Parameter pending: what is unsent in the room; `nil` if it could not be counted.
    public static func leaving(_ room: String, losing pending: PendingCount?, _ translator: Translator) -> Self {
        let deletion = translator("Messages in this room will be deleted from this computer.")
        let losses =
            pending.map { $0.unsentLosses(translator) }
            ?? [translator("Drafts and unsent messages could not be counted. Any that exist will be lost.")]
        return Self(
            heading: translator("Leave “{room}”?", ["room": room]),
            body: losses.isEmpty ? deletion : deletion + "\n\n" + losses.joined(separator: "\n"),
            action: translator("_Leave"))
    }

    public static func encrypting(_ translator: Translator) -> Self {
        Self(
            heading: translator("Turn On Encryption?"),
            body: translator(
                "Encryption cannot be turned off later. New messages and files can only be read by members; earlier ones stay as they are. Servers can still see the name, topic, members, and reactions."
            ),
            action: translator("_Turn On"))
    }

    public static func removing(_ member: Member, _ translator: Translator) -> Self {
        Self(
            heading: translator("Remove {name}?", ["name": member.displayName]),
            body: translator("They can return if the room is public or if they are invited again."),
            action: translator("_Remove"))
    }
}

extension SignOutViewModel.State {
    /// The heading of the question whether to sign out.
    public nonisolated func heading(_ translator: Translator) -> String {
        translator("Sign Out of {account}?", ["account": account])
    }

    /// What is said in place of the question while it is being prepared.
    public nonisolated func preparation(_ translator: Translator) -> String {
        translator("Checking for drafts, unsent messages, and keys that are not in a backup…")
    }

    /// The question of the current step, or `nil` if it asks nothing.
    @MainActor public func confirmation(_ wording: Wording) -> ConfirmationText? {
        let translator = wording.translator
        switch step {
        case .confirming:
            return ConfirmationText(
                heading: heading(translator), body: losses(translator), action: translator("_Sign Out"))
        case .failed(let problem):
            let consequence = translator(
                "This device stays signed in on the server until you sign it out from another one.")
            return ConfirmationText(
                heading: translator("Could Not Sign Out"),
                body: SignInText(wording).text(for: problem) + "\n\n" + consequence,
                action: translator("_Remove Anyway"))
        case .counting, .signingOut, .over: return nil
        }
    }
}
