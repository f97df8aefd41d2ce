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
            return translator("You asked to join this room. Someone there needs to approve your request.")
        }
        guard let id = invitation.inviter?.rawValue else { return nil }
        let who = invitation.inviterName.map { "\($0) (\(id))" } ?? id
        let text =
            invitation.isDirect ? translator("%s wants to chat with you.") : translator("%s invited you to this room.")
        return text.replacing("%s", with: who)
    }

    public func text(for error: ChatError) -> String {
        switch error {
        case .notFound: translator("This invitation was revoked.")
        case .unreachable: translator("Could not connect to the server. Try again when you are online.")
        default: ToastText(wording).text(for: error)
        }
    }
}
