/// When the user chose what to show, in the order of all choices.
///
/// The last choice counts: what an earlier one had to wait for, such as an account or the server's answer, must not replace
/// it. What the program selects by itself, as at the start, is no choice.
struct UserChoice {
    private static var count = 0
    private let number: Int

    /// A choice that is made now.
    init() {
        Self.count += 1
        number = Self.count
    }

    /// Whether the other choice was made later.
    func isOutdated(by other: UserChoice?) -> Bool { other.map { number < $0.number } ?? false }
}
