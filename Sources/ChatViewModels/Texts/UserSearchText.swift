public import ChatCore

/// The texts of the user search.
public struct UserSearchText {
    private let wording: Wording
    private var translator: Translator { wording.translator }

    public init(_ wording: Wording) {
        self.wording = wording
    }

    /// Says why nobody is listed; empty if somebody is, or if nothing was searched for.
    public func status(_ state: UserSearchViewModel.State) -> String {
        if let error = state.error { return ToastText(wording).text(for: error) }
        return state.isEmpty ? translator("No people found") : ""
    }

    /// What a screen reader says for the button that removes a chosen user.
    public func removal(of user: User) -> String { translator("Remove {name}", ["name": user.title]) }
}
