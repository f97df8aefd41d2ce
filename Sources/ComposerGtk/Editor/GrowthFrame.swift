import Composer
import GtkKit

/// Animates changes of its child's natural height: the bar springs when lines are added or removed (SLK-57).
///
/// Only changes of the child's request are animated. Resizing the window takes effect at once.
final class GrowthFrame: WidgetImplementation {
    override class var typeName: String { "ParlanceGrowthFrame" }
    override class var cssName: String { "growth" }

    /// Whether changes bounce while the text is focused; otherwise they slide.
    var bounces = true
    /// Returns whether the text has the focus.
    var isFocused: (() -> Bool)?
    /// Whether an animation is in progress.
    var isMoving: Bool { movement != nil }

    private struct Movement {
        var start: Double
        var end: Int
        var transition: ResizeTransition
        /// The frame time in microseconds, or `nil` before the first frame.
        var startTime: Int64?
    }

    private var movement: Movement?
    /// The window's width and the current height, in pixels; `nil` before the first layout. Not the child's width,
    /// which changes while a button beside it slides.
    private var currentSize: (window: Int, height: Double)?
    private var isTicking = false
    /// The frame time of mapping, or of the last change of the window's width, in microseconds.
    private var mappedAt: Int64?
    /// The time in which a text view settles on its height, in microseconds.
    private static let settling: Int64 = 300_000

    override func add(_ child: Widget, to childType: String?) -> Bool {
        child.setParent(self)
        child.onMap { [weak self] _ in
            if let self, let frameTime = self.frameTime { self.mappedAt = frameTime }
        }
        return true
    }

    override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        let childRequest = childSize(orientation, for: size)
        guard orientation == .vertical, let currentSize, currentSize.window == windowWidth, isAnimated else {
            return childRequest
        }
        let height = Int(currentSize.height.rounded())
        return SizeRequest(minimum: min(childRequest.minimum, height), natural: height)
    }

    override func allocate(width: Int, height: Int) {
        updateHeight(width: width)
        guard let child = firstChild else { return }
        let minimum = childSize(.vertical, for: width).minimum
        child.allocate(width: width, height: max(height, minimum))
    }

    /// `false` if the user has disabled animations, and while a text view that was just mapped or rewrapped settles on
    /// its height (MCV-16).
    private var isAnimated: Bool {
        guard enablesAnimations, isMapped, let mappedAt, let frameTime else { return false }
        return frameTime - mappedAt > Self.settling
    }

    private var windowWidth: Int { root?.width ?? 0 }

    private func childSize(_ orientation: Orientation, for size: Int) -> SizeRequest {
        guard let child = firstChild, child.shouldLayout else { return SizeRequest(minimum: 0, natural: 0) }
        return child.measure(orientation, for: size)
    }

    /// Starts an animation toward the child's natural height at this width.
    private func updateHeight(width: Int) {
        let naturalHeight = childSize(.vertical, for: width).natural
        let window = windowWidth
        let isFirst = currentSize?.window != window
        if isFirst, mappedAt != nil, let frameTime { mappedAt = frameTime }
        let transition = ResizeTransition.rule(
            bounces: bounces, isFocused: isFocused?() ?? false, isFirstLayout: isFirst, animationsEnabled: isAnimated)
        guard let currentSize, transition != .none else {
            let isOther = currentSize.map { Int($0.height.rounded()) != naturalHeight } ?? false
            movement = nil
            currentSize = (window, Double(naturalHeight))
            // ``measure(_:for:)`` may have returned the previous height.
            if isOther { tick() }
            return
        }
        guard naturalHeight != movement?.end ?? Int(currentSize.height.rounded()) else { return }
        movement = Movement(start: currentSize.height, end: naturalHeight, transition: transition)
        tick()
    }

    private func tick() {
        guard !isTicking else { return }
        isTicking = true
        widget.addTick { [weak self] in self?.step() ?? false }
    }

    /// - Returns: Whether the animation continues.
    private func step() -> Bool {
        guard var movement, let window = currentSize?.window, let now = frameTime else {
            isTicking = false
            queueResize()
            return false
        }
        let startTime = movement.startTime ?? now
        movement.startTime = startTime
        let progress = movement.transition.progress(after: Double(now - startTime) / 1_000_000)
        let height = movement.start + (Double(movement.end) - movement.start) * (progress ?? 1)
        currentSize = (window, max(0, height))
        self.movement = progress == nil ? nil : movement
        isTicking = progress != nil
        queueResize()
        return isTicking
    }
}
