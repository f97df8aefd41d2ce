import Composer
import Testing

struct WindowRuleTests {
    /// SLK-57: bounces, focused, first layout, animations, transition.
    static let transitions: [(Bool, Bool, Bool, Bool, ResizeTransition)] = [
        (true, true, false, true, .spring(0.65, damping: 0.7, velocity: 0.7)), (true, false, false, true, .eased(0.2)),
        (false, true, false, true, .eased(0.2)), (true, true, true, true, .none), (true, true, false, false, .none),
    ]

    @Test(arguments: transitions)
    func resizing(bounces: Bool, focused: Bool, first: Bool, animations: Bool, transition: ResizeTransition) {
        #expect(
            ResizeTransition.rule(
                bounces: bounces, isFocused: focused, isFirstLayout: first, animationsEnabled: animations) == transition
        )
    }

    /// HKW-24.
    @Test func overridesAreTakenBackOnce() {
        var setting = OverridableSetting(1)
        setting.restore()
        #expect(setting.value == 1 && !setting.isOverridden)
        setting.override(with: 2)
        setting.override(with: 3)
        #expect(setting.value == 2 && setting.isOverridden)
        setting.restore()
        setting.restore()
        #expect(setting.value == 1 && !setting.isOverridden)
    }
}
