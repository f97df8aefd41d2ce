/// A screen's state machine: one state, changed only by actions and by what services report.
///
/// Views send actions and render the state; they ask nobody for data.
@MainActor
public protocol ViewModel: AnyObject {
    associatedtype State: Equatable
    associatedtype Action

    var state: State { get }
    func send(_ action: Action)
}
