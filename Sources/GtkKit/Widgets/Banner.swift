import CGtk

/// A bar with a text and a button below a header, as AdwBanner, which libadwaita 1.2 does not have.
///
/// The program's style sheet draws it: the class `banner`, and `problem` for what the user has to solve.
public final class Banner {
    public let widget: Widget

    private let revealer = Revealer()
    // Screen readers report an alert that appears, but no status: for AT-SPI that is a status bar.
    private let row = Box(.horizontal, spacing: 6, role: GTK_ACCESSIBLE_ROLE_ALERT)
    private let label = Label()
    private let button = Button()

    public init() {
        widget = revealer
        row.addStyle("banner")
        label.addStyle("heading")
        label.wrap = true
        label.setWrapMode(.wordOrCharacter)
        // The text wraps instead of widening what is below.
        label.maxWidthChars = 14
        label.xalign = 0
        label.hexpand = true
        button.usesUnderline = true
        button.valign = .center
        row.append(label)
        row.append(button)
        revealer.setChild(row)
    }

    public var isRevealed: Bool {
        get { revealer.isRevealed }
        set { revealer.isRevealed = newValue }
    }

    public var title: String {
        get { label.text }
        set {
            label.text = newValue
            row.setAccessibleLabel(newValue)
        }
    }

    /// With a mnemonic.
    public var buttonLabel: String? {
        get { button.label }
        set { button.label = newValue }
    }

    public var isProblem: Bool {
        get { row.hasStyle("problem") }
        set { row.setStyle("problem", newValue) }
    }

    public func onButtonClick(_ handler: @escaping @MainActor () -> Void) { button.onClick(handler) }
}
