import Composer
import Testing

struct GrowthTests {
    /// SLK-4: limit, window height, maximum lines.
    static let limits: [(GrowthLimit, Double, Int)] = [
        (.byWindowHeight, 480, 4), (.byWindowHeight, 567, 4), (.byWindowHeight, 568, 6), (.byWindowHeight, 767, 6),
        (.byWindowHeight, 768, 8), (.byWindowHeight, 2000, 8), (.lines(3), 800, 3), (.lines(0), 426, 20),
        (.lines(0), 1026, 50), (.lines(99), 126, 5), (.fractionOfWindow(3), 800, 13), (.pixels(100), 800, 5),
        (.byWindowHeight, 0, 1), (.lines(0), 0, 1), (.pixels(0), 800, 1), (.fractionOfWindow(0), 426, 20),
    ]

    @Test(arguments: limits)
    func limitDeterminesTheMaximumLines(limit: GrowthLimit, windowHeight: Double, lines: Int) {
        let found = GrowthRules.maxLines(limit, windowHeight: windowHeight, lineHeight: 20, chrome: 26)
        #expect(found == lines)
    }

    /// SLK-58: larger text gets fewer lines; the scale's effect is clamped to ±0.75.
    @Test(arguments: [(1.0, 6), (1.5, 3), (2.0, 2), (4.0, 2), (0.8, 8), (0.5, 9), (0.01, 11)])
    func textScaleReducesTheMaximumLines(scale: Double, lines: Int) {
        #expect(GrowthRules.scaledLines(6, textScale: scale) == lines)
    }

    /// SLK-5, SLK-12, SLK-16: lines, line height, space below the text, editing, height.
    static let heights: [(Int, Double, Double, Bool, Int)] = [
        (1, 20, 0, false, 46), (2, 20, 0, false, 66), (3, 18.5, 0, false, 82), (1, 18.5, 0, false, 45),
        (1, 20, 30, false, 76), (1, 20, 0, true, 84), (6, 20, 0, true, 184),
    ]

    @Test(arguments: heights)
    func barHeightFollowsItsLines(lines: Int, lineHeight: Double, under: Double, editing: Bool, height: Int) {
        let found = GrowthRules.barHeight(
            lines: lines, lineHeight: lineHeight, insets: ComposerInsets(), underHeight: under, editing: editing)
        #expect(found == height)
    }

    /// SLK-5: floor(|content − insets| / line height), at least 1.
    @Test(arguments: [(36.0, 1), (55.9, 1), (56.0, 2), (0.0, 1), (16.0, 1), (1016.0, 50)])
    func lineCountFollowsTheContentHeight(contentHeight: Double, lines: Int) {
        #expect(GrowthRules.lineCount(contentHeight: contentHeight, insets: ComposerInsets(), lineHeight: 20) == lines)
    }

    @Test func barGrowsShrinksAndScrolls() {
        var script = ComposerScript()
        script.send(.layout(ComposerLayout(windowHeight: 600, lineHeight: 20)))
        #expect(script.state.height == 46 && !script.state.isExpanding)
        script.load("a\nb\nc")
        #expect(script.state.lines == 3 && script.state.height == 86 && !script.state.isExpanding)
        script.load(String(repeating: "a\n", count: 9))
        #expect(script.state.lines == 10 && script.state.height == 146)
        #expect(script.state.isExpanding && script.state.scrollsInside)
        script.send(.send)
        script.send(.clear)
        #expect(script.state.lines == 1 && script.state.height == 46)
    }

    /// SLK-4: lines, limit, whether the limit is reached, whether it is exceeded.
    static let reaching: [(Int, GrowthLimit, Bool, Bool)] = [
        (1, .lines(6), false, false), (5, .lines(6), false, false), (6, .lines(6), true, false),
        (7, .lines(6), true, true), (1, .lines(1), true, false), (27, .lines(0), false, false),
        (28, .lines(0), true, false), (29, .lines(0), true, true), (4, .pixels(100), false, false),
        (5, .pixels(100), true, false),
    ]

    @Test(arguments: reaching)
    func limitDeterminesExpandingAndScrolling(lines: Int, limit: GrowthLimit, isExpanding: Bool, scrolls: Bool) {
        var configuration = ComposerConfiguration()
        configuration.maxLines = limit
        var script = ComposerScript(configuration)
        script.type("a")
        script.send(.layout(ComposerLayout(windowHeight: 600, lineHeight: 20, lines: lines)))
        #expect(script.state.isExpanding == isExpanding && script.state.scrollsInside == scrolls)
    }

    /// MCV-2: content below the bar reduces the space for lines, not the bar's minimum height.
    @Test(arguments: [
        (0.0, 800.0, 8, 186), (200, 800, 8, 186), (500, 590, 3, 86), (10_000, 800, 1, 46), (-50, 800, 8, 186),
    ])
    func bottomOffsetReducesTheMaximumLines(offset: Double, windowHeight: Double, maximum: Int, height: Int) {
        var configuration = ComposerConfiguration()
        configuration.insets.bottomOffset = offset
        var script = ComposerScript(configuration)
        script.send(.layout(ComposerLayout(windowHeight: windowHeight, lineHeight: 20)))
        script.load(String(repeating: "\n", count: 20))
        #expect(script.state.maxLines == maximum && script.state.height == height)
    }

    /// MCV-5, SLK-13: ⚠ changed insets took effect only after a manual call, or only the first change did.
    @Test func insetChangesApplyImmediately() {
        var script = ComposerScript()
        var configuration = ComposerConfiguration()
        configuration.insets = ComposerInsets(textTop: 0, textBottom: 0, rowTop: 20, rowBottom: 10)
        script.change { engine in
            #expect(engine.reconfigure(configuration).contains(.observed(.heightChanged)))
        }
        #expect(script.state.height == 50)
    }

    /// Heights are valid for any inset.
    @Test(arguments: [-1000.0, -46, 1e300, -.infinity, .nan])
    func heightsAreNeverNegative(inset: Double) {
        var configuration = ComposerConfiguration()
        configuration.insets.rowTop = inset
        #expect(ComposerEngine(configuration: configuration).state.height >= 0)
        #expect(ComposerEngine(configuration: configuration).state.maxLines >= 1)
    }

    @Test func wrappedLinesCountUntilTheTextIsCleared() {
        var script = ComposerScript()
        script.type("long")
        script.send(.layout(ComposerLayout(windowHeight: 800, lineHeight: 20, lines: 4)))
        #expect(script.state.lines == 4)
        script.press("Shift+Return")
        #expect(script.state.lines == 5)
        script.send(.clear)
        #expect(script.state.lines == 1)
    }

    /// MIB-8, SLK-53.
    @Test func expandedBarIsTallAndHiddenBarHasNoHeight() {
        var script = ComposerScript()
        script.press("Ctrl+Shift+E")
        #expect(script.state.height == 146 && script.state.isExpanded)
        script.send(.hide(true))
        #expect(script.state.height == 0)
    }
}
