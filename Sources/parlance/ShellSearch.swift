import ChatViewModels
import GtkKit

/// The desktop's search over the running session.
final class ShellSearch {
    /// `data/io.github.parlance_chat.Parlance.search-provider.ini` names it.
    private static let path = "/io/github/parlance_chat/Parlance/SearchProvider"

    private var provider: SearchProvider?

    /// - Parameters:
    ///   - search: returns the search of the session, once that is open; `nil` if it could not be opened.
    ///   - open: opens the room of a result in the window.
    ///   - launch: searches in the window.
    init(
        search: @escaping @MainActor () async -> DesktopSearch?,
        open: @escaping @MainActor (NotificationTarget) -> Void,
        launch: @escaping @MainActor (String) -> Void
    ) {
        provider = SearchProvider(
            at: Self.path, icon: ParlanceApplication.id,
            answers: SearchProvider.Answers(
                search: { terms, previous in
                    guard let search = await search() else {
                        StandardError.write("the desktop's search has no results: the rooms could not be opened")
                        return []
                    }
                    return await search.results(of: terms, among: previous)
                },
                describe: { ids in
                    await search()?.describe(ids).map {
                        SearchProvider.Result(id: $0.id, name: $0.name, description: $0.account)
                    } ?? []
                },
                open: { id in if let target = NotificationTarget(id) { open(target) } },
                launch: { launch($0.joined(separator: " ")) }))
    }
}
