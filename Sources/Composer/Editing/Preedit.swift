/// What an input method shows at the caret; never part of the document (HKW-31).
struct Preedit: Sendable {
    private(set) var text = ""

    var isEmpty: Bool { text.isEmpty }

    mutating func show(_ text: String, _ transaction: inout EventTransaction) {
        let text = text.withoutNUL()
        guard text != self.text else { return }
        self.text = text
        transaction.observe(.preeditChanged)
    }

    mutating func end(_ transaction: inout EventTransaction) { show("", &transaction) }
}
