import Composer
import Testing

struct WindowRuleTests {
    /// SLK-57: bounces, focused, first layout, animations enabled, transition.
    static let transitions: [(Bool, Bool, Bool, Bool, ResizeTransition)] = [
        (true, true, false, true, .spring(0.65, damping: 0.7, velocity: 0.7)), (true, false, false, true, .eased(0.2)),
        (false, true, false, true, .eased(0.2)), (true, true, true, true, .none), (true, true, false, false, .none),
    ]

    @Test(arguments: transitions)
    func transitionDependsOnFocusAndAnimations(
        bounces: Bool, focused: Bool, first: Bool, animations: Bool, transition: ResizeTransition
    ) {
        #expect(
            ResizeTransition.rule(
                bounces: bounces, isFocused: focused, isFirstLayout: first, animationsEnabled: animations) == transition
        )
    }

    /// SLK-57: transitions start and end at the exact values; only springs overshoot.
    @Test(arguments: [
        (ResizeTransition.spring(0.65, damping: 0.7, velocity: 0.7), 0.65, 1.0...1.1), (.eased(0.2), 0.2, 0.9...1.0),
    ])
    func transitionsEndAtExactValues(_ transition: ResizeTransition, duration: Double, furthest: ClosedRange<Double>)
        throws
    {
        #expect(try abs(#require(transition.progress(after: 0))) < 0.001)
        #expect(transition.progress(after: duration) == nil)
        let way = try (0..<100).map { try #require(transition.progress(after: duration * Double($0) / 100)) }
        #expect(try furthest.contains(#require(way.max())))
        #expect(try abs(#require(way.last) - 1) < 0.01, "there is no leap at the end")
        #expect(zip(way, way.dropFirst()).allSatisfy { abs($1 - $0) < 0.1 }, "nor on the way")
        #expect(ResizeTransition.none.progress(after: 0) == nil)
    }

    /// HKW-24.
    @Test func overridesAreRestoredOnce() {
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
