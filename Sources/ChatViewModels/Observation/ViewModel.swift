/// A screen's state machine: one state, changed only by actions and service updates.
///
/// Views send actions and render the state; they access no service.
@MainActor
public protocol ViewModel: AnyObject {
    associatedtype State: Equatable
    associatedtype Action

    var state: State { get }
    func send(_ action: Action)
}
