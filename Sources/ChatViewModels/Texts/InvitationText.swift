public import ChatCore
import Foundation

/// The texts of invitations.
public struct InvitationText {
    private let wording: Wording
    private var translator: Translator { wording.translator }

    public init(_ wording: Wording) {
        self.wording = wording
    }

    /// Includes the Matrix ID: display names are not unique and can be forged.
    public func inviter(of invitation: Invitation) -> String? {
        if invitation.isKnock {
            return translator("You asked to join this room. A member needs to approve your request.")
        }
        guard let id = invitation.inviter?.rawValue else { return nil }
        let who = ["name": invitation.inviterName.map { "\($0) (\(id))" } ?? id]
        return invitation.isDirect
            ? translator("{name} wants to chat with you.", who) : translator("{name} invited you to this room.", who)
    }

    /// The address of the room, or `nil` if it is shown as its title or unknown.
    public func address(of invitation: Invitation) -> String? {
        invitation.address == invitation.title ? nil : invitation.address
    }

    /// The label of the button that declines, with a mnemonic.
    public func decline(_ invitation: Invitation) -> String {
        invitation.isKnock ? translator("_Withdraw Request") : translator("_Decline")
    }

    public func text(for error: ChatError) -> String {
        switch error {
        case .notFound: translator("This invitation was revoked.")
        case .unreachable: translator("Could not connect to the server. Try again when you are online.")
        default: ToastText(wording).text(for: error)
        }
    }
}
