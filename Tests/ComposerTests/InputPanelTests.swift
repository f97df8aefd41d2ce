import Composer
import Testing

/// SLK-50, MIB-40: the state of the on-screen keyboard.
struct InputPanelTests {
    /// From, to, whether the transition is valid.
    static let steps: [(InputPanel.State, InputPanel.State, Bool)] = InputPanel.State.allCases.flatMap { from in
        InputPanel.State.allCases.map { to in
            let order = InputPanel.State.allCases
            let isNext = order.firstIndex(of: to) == order.firstIndex(of: from).map { ($0 + 1) % order.count }
            return (from, to, isNext || to == .hidden && from != .hidden)
        }
    }

    @Test(arguments: steps)
    func onlyValidTransitionsAreAllowed(from: InputPanel.State, to: InputPanel.State, isStep: Bool) {
        var panel = InputPanel()
        for state in [InputPanel.State.showing, .shown, .hiding] where panel.state != from { panel.move(to: state) }
        guard panel.state == from || from == .hidden else {
            Issue.record("\(from) is not reached")
            return
        }
        if from == .hidden { panel.move(to: .hidden) }
        #expect(panel.move(to: to) == isStep)
        #expect(panel.state == (isStep ? to : from))
    }

    /// Starting at 700 × 600: window sizes, whether a change of height counts, and the resulting states.
    static let windows: [(String, [(Double, Double, Bool, [InputPanel.State])])] = [
        ("a keyboard comes and goes", [(700, 300, true, [.showing, .shown]), (700, 600, true, [.hiding, .hidden])]),
        (
            "a floating one, and one on a desk, change nothing",
            [(700, 600, true, []), (700, 600, true, [])]
        ),
        ("SLK-52: another field has the focus", [(700, 300, false, []), (700, 600, false, [])]),
        (
            "the user makes the window lower, bit by bit",
            [(700, 560, true, []), (700, 520, true, []), (700, 470, true, [])]
        ),
        ("the screen is turned", [(600, 400, true, []), (600, 200, true, [.showing, .shown])]),
        ("turned with it", [(700, 300, true, [.showing, .shown]), (300, 400, true, [.hidden])]),
        (
            "the text loses the focus first",
            [(700, 300, true, [.showing, .shown]), (700, 300, false, [.hiding]), (700, 600, false, [.hidden])]
        ),
        (
            "its rows of suggestions come and go",
            [(700, 300, true, [.showing, .shown]), (700, 260, true, []), (700, 300, true, [])]
        ),
    ]

    @Test(arguments: windows)
    func panelFollowsTheWindowHeight(name: String, sizes: [(Double, Double, Bool, [InputPanel.State])]) {
        var panel = InputPanel()
        #expect(panel.update(width: 700, height: 600, counts: true).isEmpty)
        for (width, height, counts, states) in sizes {
            #expect(panel.update(width: width, height: height, counts: counts) == states, "\(name): \(height)")
        }
    }
}
