import GtkKit

/// Blinks the caret of a text view while it has the focus, by showing and hiding it.
///
/// GTK fades its carets, and for that draws a frame at each refresh of the display. A running frame clock also delays what
/// a key press draws until the next refresh. A caret that is shown and hidden costs two frames a period.
final class CaretBlink {
    private let textView: TextView
    private var override: CaretBlinkingOverride?
    private var timer: Timeout?
    private var lastInput = ContinuousClock.now
    private var connections: [SignalConnection] = []

    init(textView: TextView, buffer: TextBuffer) {
        self.textView = textView
        let restart: @MainActor () -> Void = { [weak self] in self?.restart() }
        connections = [
            textView.onFocusChange { [weak self] _ in self?.focusChanged() },
            buffer.onChange(restart),
            buffer.onSelectionMark(restart),
            textView.onPreeditChange { _ in restart() },
            // GTK scrolls, rather than moving a caret that is hidden.
            textView.onCaretKey(restart),
        ]
        focusChanged()
    }

    isolated deinit {
        connections.forEach { $0.disconnect() }
        textView.isCaretVisible = true
    }

    private func focusChanged() {
        guard textView.hasFocus else {
            (override, timer) = (nil, nil)
            textView.isCaretVisible = true
            return
        }
        guard override == nil else { return }
        override = CaretBlinkingOverride()
        // Ends the blinking that GTK may have begun.
        textView.isCaretVisible = false
        textView.isCaretVisible = true
        restart()
    }

    private func restart() {
        guard let override else { return }
        lastInput = .now
        textView.isCaretVisible = true
        if timer == nil, let blinking = override.blinking { wait(for: Self.visibleTime(blinking)) }
    }

    private func wait(for time: Duration) {
        timer = Timeout(after: time) { [weak self] in self?.step() }
    }

    private func step() {
        timer = nil
        let idle = ContinuousClock.now - lastInput
        guard let blinking = override?.blinking, idle < blinking.timeout else { return textView.isCaretVisible = true }
        let visibleTime = Self.visibleTime(blinking)
        if !textView.isCaretVisible {
            textView.isCaretVisible = true
            wait(for: visibleTime)
        } else if idle < visibleTime {
            wait(for: visibleTime - idle)
        } else {
            textView.isCaretVisible = false
            wait(for: blinking.period - visibleTime)
        }
    }

    private static func visibleTime(_ blinking: CaretBlinking) -> Duration { blinking.period * 2 / 3 }
}
