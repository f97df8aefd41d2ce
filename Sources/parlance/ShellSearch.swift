import ChatViewModels
import GtkKit

/// The desktop's search over the running session.
final class ShellSearch {
    /// `data/io.github.parlance_chat.Parlance.search-provider.ini` names it.
    private static let path = "/io/github/parlance_chat/Parlance/SearchProvider"

    private let withSession: @MainActor (@escaping CurrentSession.Request) -> Void
    private var provider: SearchProvider?
    /// That of the running session, once it was used.
    private var search: DesktopSearch?

    /// - Parameters:
    ///   - withSession: does something with the session once it runs.
    ///   - open: opens the room of a result in the window.
    ///   - launch: searches in the window.
    init(
        withSession: @escaping @MainActor (@escaping CurrentSession.Request) -> Void,
        open: @escaping @MainActor (NotificationTarget) -> Void,
        launch: @escaping @MainActor (String) -> Void
    ) {
        self.withSession = withSession
        provider = SearchProvider(
            at: Self.path, icon: ParlanceApplication.id,
            answers: SearchProvider.Answers(
                search: { [weak self] terms, previous in
                    guard let search = await self?.openedSearch() else {
                        StandardError.write("the desktop's search has no results: the rooms could not be opened")
                        return []
                    }
                    return await search.results(of: terms, among: previous)
                },
                describe: { [weak self] ids in
                    await self?.openedSearch()?.describe(ids).map {
                        SearchProvider.Result(id: $0.id, name: $0.name, description: $0.account)
                    } ?? []
                },
                open: { id in if let target = NotificationTarget(id) { open(target) } },
                launch: { launch($0.joined(separator: " ")) }))
    }

    func noteClosing() { search = nil }

    /// - Returns: the search of the session, once that is open; `nil` if it could not be opened.
    private func openedSearch() async -> DesktopSearch? {
        await withCheckedContinuation { done in
            withSession { [weak self] session in
                guard let session else { return done.resume(returning: nil) }
                let search = self?.search ?? DesktopSearch(session.accounts)
                self?.search = search
                done.resume(returning: search)
            }
        }
    }
}
