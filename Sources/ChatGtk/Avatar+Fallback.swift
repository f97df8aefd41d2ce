import ChatViewModels
import GtkKit

extension Avatar {
    func setFallback(_ fallback: AvatarFallback) {
        iconName =
            switch fallback {
            case .initials: nil
            case .notes: "parlance-edit-symbolic"
            case .everyone: "system-users-symbolic"
            case .computer: "computer-symbolic"
            }
        showsInitials = fallback == .initials
    }
}
