import Synchronization

@testable import ChatStore

/// Runs something before one access to a store, as another call that comes between two accesses would.
final class AccessCounter: Sendable {
    private let count = Mutex(0)

    private func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }

    func run(before number: Int, to store: ChatStore, _ body: @escaping @Sendable (ChatStore) throws -> Void) {
        store.beforeAccess.withLock {
            $0 = { [self, unowned store] in if next() == number { try body(store) } }
        }
    }
}
