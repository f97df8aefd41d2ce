import ChatTestSupport
import Observation
import Testing

@testable import ChatViewModels

@MainActor @Suite(.timeLimit(.minutes(10))) struct ChangeSubscriptionTests {
    /// An object that notes its readers by a token of theirs.
    private final class Source: Observable, Sendable {
        final class Token: Hashable, Sendable {
            static func == (left: Token, right: Token) -> Bool { left === right }
            func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
        }

        private let registrar = ObservationRegistrar()

        subscript(token: Token) -> Int {
            registrar.access(self, keyPath: \Source.[token])
            return 0
        }
    }

    private final class Weak {
        weak var token: Source.Token?
    }

    @Test("Nothing is left with the object once the subscription has ended")
    func leavesNothing() async {
        let source = Source()
        let received = Recorder<Int>()
        let noted = Weak()
        var subscription: ChangeSubscription?
        do {
            let token = Source.Token()
            noted.token = token
            subscription = ChangeSubscription(to: { source[token] }) { received.record($0) }
        }
        await eventually { received.values == [0] }
        #expect(noted.token != nil)
        subscription = nil
        #expect(subscription == nil)
        while noted.token != nil { await Task.yield() }
        withExtendedLifetime(source) {}
    }
}
