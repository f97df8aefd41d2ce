import Composer
import ComposerSessions
import GtkKit

/// The scrolled text view: grows with its lines up to a limit, and reports its layout to the engine (SLK-4).
final class EditorField {
    /// Called when the window's size may have changed.
    var onWindowChange: (() -> Void)?
    /// Called when the state of the on-screen keyboard changes (SLK-50).
    var onPanel: ((InputPanel.State) -> Void)?
    /// Decides whether a change of the window's height may be caused by the on-screen keyboard; by default only while
    /// the text is focused (SLK-52).
    var panelPolicy: (_ isFocused: Bool) -> Bool = { $0 }
    private(set) var panel = InputPanel()
    /// Called when the field's height or its content's height has changed.
    var onHeightChange: (() -> Void)?

    private let model: any ComposerModel
    private let editor: EditorView
    private let textView: Widget
    private let scroller: ScrolledWindow
    private let click = ClickGesture()
    private var connections: [SignalConnection] = []
    private var surfaceLayout: SignalConnection?
    private var isCatchingUp = false
    private var windowWidth = 0
    /// The height of ``lineLimit`` lines in the current font, in pixels.
    private var heightLimit = 0
    private var lineLimit = 0
    /// In pixels; updated by ``measure()``.
    private var lineHeight = 0.0
    private var isExpanded = false
    /// Whether the text stays scrolled to its top (HKW-19).
    var isLocked = false {
        didSet {
            scroller.hidesScrollbar = isLocked
            if isLocked { scroller.verticalAdjustment.value = 0 }
        }
    }
    private var lastReportedLayout: ComposerLayout?
    /// The number of display lines, as wrapped by GTK, once the text view is allocated (SLK-5).
    private var wrappedLines: Int?
    private var isCounting = false

    init(model: any ComposerModel, editor: EditorView, widgets: ComposerWidgets) {
        self.model = model
        self.editor = editor
        textView = widgets.textView
        scroller = widgets.scroller
        textView.setAccessibleLabel(translated("Message"))
        textView.setAccessiblePlaceholder(widgets.placeholder.text)
        // The text view has no margins of its own, because GTK 4.8 scrolls those out of view when it grows. Clicks on
        // the space around it focus the text all the same.
        click.onPress { [weak self] _ in self?.textView.grabFocus() }
        widgets.overlay.addController(click)
        clampScrolling()
        connections += [
            textView.onRealize { [weak self] _ in self?.observeWindowHeight() },
            // The surface belongs to the window: a bar that is reparented has to observe another one.
            textView.onUnrealize { [weak self] _ in self?.leaveWindow() },
        ]
        connections.append(
            scroller.horizontalAdjustment.onPageSizeChange { [weak self] in
                self?.afterLayout { field in
                    field.editor.inlineImages.fit(width: Int(field.scroller.horizontalAdjustment.pageSize))
                }
                self?.countLinesAfterLayout()
            })
        // A GtkTextView is never narrower than its child widgets, and a window never narrower than a text view that
        // cannot scroll horizontally.
        editor.inlineImages.onPresence = { [weak self] in self?.scroller.scrollsSideways = $0 }
        if textView.isRealized { observeWindowHeight() }
    }

    isolated deinit {
        leaveWindow()
        connections.forEach { $0.disconnect() }
        click.end()
        scroller.scrollsSideways = false
    }

    // MARK: Growing

    /// - Parameter isExpanded: Whether to keep the field at its maximum height, whatever its content (MIB-8).
    func limitHeight(toLines lines: Int, isExpanded: Bool) {
        lineLimit = lines
        if lineHeight == 0 { lineHeight = editor.lineHeight }
        let limit = Int((Double(lines) * lineHeight).rounded(.up))
        guard limit != heightLimit || isExpanded != self.isExpanded else { return }
        heightLimit = limit
        self.isExpanded = isExpanded
        scroller.setContentHeight(minimum: isExpanded ? limit : -1, maximum: limit)
        catchUp()
    }

    /// Scrolling to the caret starts before the field has grown, and GTK 4.8 animates to that target without
    /// clamping it to the new bounds.
    private func clampScrolling() {
        let adjustment = scroller.verticalAdjustment
        connections.append(
            adjustment.onValueChange { [weak self] in
                guard let self else { return }
                let adjustment = self.scroller.verticalAdjustment
                let end = self.isLocked ? 0 : max(0, adjustment.upper - adjustment.pageSize)
                if adjustment.value > end { adjustment.value = end }
            })
        // A text view requests at least its text's height, and is allocated that even if the field is lower. When the
        // field catches up, the view's allocation does not change, and it keeps scrolling by the old page size (GTK
        // 4.8).
        connections.append(
            adjustment.onUpperChange { [weak self] in
                self?.afterLayout { $0.onHeightChange?() }
                self?.countLinesAfterLayout()
                self?.catchUp()
            })
        connections.append(
            adjustment.onPageSizeChange { [weak self] in
                self?.afterLayout { field in
                    field.editor.scrollToCaret()
                    field.onHeightChange?()
                }
            })
    }

    /// Runs `action` in the next frame. Adjustments notify during allocation, and GTK from 4.18 on does not draw
    /// widgets that queue a resize within a layout.
    private func afterLayout(_ action: @escaping @MainActor (EditorField) -> Void) {
        textView.addTick { [weak self] in
            if let self { action(self) }
            return false
        }
    }

    private func catchUp() {
        guard !isCatchingUp else { return }
        isCatchingUp = true
        var frames = 0
        textView.addTick { [weak self] in
            frames += 1
            self?.isCatchingUp = self?.catchUpWithHeight() == true && frames < 60
            return self?.isCatchingUp == true
        }
    }

    /// The number of lines that currently fit into the field.
    var visibleLines: Double { scroller.verticalAdjustment.pageSize / max(1, lineHeight) }

    /// Whether the text exceeds the field's maximum height. `false` while the field is still growing.
    var overflows: Bool {
        // Actual lines may be a pixel taller than the font metrics say: tolerate half a line.
        heightLimit > 0 && scroller.verticalAdjustment.upper > Double(heightLimit) + lineHeight / 2
    }

    /// - Returns: Whether the field is still changing its height.
    private func catchUpWithHeight() -> Bool {
        let adjustment = scroller.verticalAdjustment
        let page = Int(adjustment.pageSize)
        guard adjustment.upper > adjustment.pageSize else { return false }
        guard scroller.height != page else { return page != heightLimit }
        // Resize the ancestors, too: a scrollbar that appears or disappears in a layout that only traverses them would
        // leave the composer undrawn in GTK 4.8, see TimelineList.queueLayout().
        textView.queueResize()
        return true
    }

    // MARK: Lines

    /// Counts the display lines after the text may have changed.
    func countLines() {
        // A frame requested for this would end before the text view has queued its drawing, which would then appear a
        // frame later.
        if textView.isMapped, textView.width > 0 { updateLineCount() } else { countLinesAfterLayout() }
    }

    /// Counts the display lines in the next frame, after their width may have changed.
    private func countLinesAfterLayout() {
        guard !isCounting else { return }
        isCounting = true
        afterLayout { field in
            field.isCounting = false
            field.updateLineCount()
        }
    }

    private func updateLineCount() {
        guard textView.isMapped, textView.width > 0, lineHeight > 0 else { return }
        let counted = editor.displayLines(atMost: lineLimit)
        // Beyond the limit, the exact number does not affect the layout: estimate it from the height.
        let byHeight = Int((scroller.verticalAdjustment.upper / lineHeight).rounded())
        let lines = counted <= lineLimit ? counted : max(counted, byHeight, editor.brokenLines)
        guard lines != model.composer.lines || lines != wrappedLines else { return }
        wrappedLines = lines
        measure()
    }

    // MARK: The window

    private func observeWindowHeight() {
        leaveWindow()
        surfaceLayout = textView.onSurfaceLayout { [weak self] in self?.windowChanged() }
        if surfaceLayout != nil { measure() }
    }

    private func leaveWindow() {
        surfaceLayout?.disconnect()
        surfaceLayout = nil
    }

    private func windowChanged() {
        measure()
        onWindowChange?()
        updateWindowWidth()
    }

    /// A text view rewraps its lines after its height has been measured, and does not queue a resize itself if they
    /// have become fewer (GTK 4.8).
    private func updateWindowWidth() {
        guard let width = textView.root?.width, width != windowWidth else { return }
        windowWidth = width
        textView.afterNextFrame { [weak self] in self?.textView.queueResize() }
    }

    private func measure() {
        guard let window = textView.root else { return }
        lineHeight = editor.lineHeight
        let layout = ComposerLayout(
            windowHeight: Double(window.height), lineHeight: lineHeight, lines: wrappedLines,
            textScale: textView.textScale)
        let counts = panelPolicy(model.composer.isFocused)
        panel.update(width: Double(window.width), height: Double(window.height), counts: counts)
            .forEach { onPanel?($0) }
        guard window.height > 0, layout != lastReportedLayout || wrappedLines != model.composer.lines else { return }
        lastReportedLayout = layout
        model.handle(.layout(layout))
        // The font size may have changed while the number of lines has not.
        limitHeight(toLines: lineLimit, isExpanded: isExpanded)
    }
}
