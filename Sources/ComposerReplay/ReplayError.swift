/// An error in a line.
struct ReplayError: Error {
    let message: String

    init(_ message: String) {
        self.message = message
    }

    static func wrongArgument(_ expected: String) -> ReplayError {
        ReplayError("wrong argument: expected \(expected)")
    }
}
