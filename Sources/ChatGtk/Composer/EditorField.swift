import CGtk
import ChatViewModels
import Composer
import GtkKit

/// The text in its scrolled window: grows with its lines to a limit, and tells the engine of the room there is (SLK-4).
final class EditorField {
    /// Called when the window has become another size.
    var onWindowChange: (() -> Void)?
    /// Called with each state of a keyboard on the screen (SLK-50).
    var onPanel: ((InputPanel.State) -> Void)?
    /// Whether a change of the window's height counts as a keyboard's: by default while the text has the focus (SLK-52).
    var panelPolicy: (_ isFocused: Bool) -> Bool = { $0 }
    private(set) var panel = InputPanel()
    /// Called when the field has become another height.
    var onHeightChange: (() -> Void)?

    private let model: any ComposerModel
    private let editor: EditorView
    private let textView: Widget
    private let scroller: ScrolledWindow
    private var connections: [SignalConnection] = []
    private var surfaceLayout: SignalConnection?
    private var isCatchingUp = false
    private var windowWidth = 0
    /// In pixels, for so many lines of the font as it is now.
    private var heightLimit = 0
    private var lineLimit = 0
    /// In pixels; measured anew when the window says that something of it may have changed.
    private var lineHeight = 0.0
    private var isExpanded = false
    /// Whether the text stays at its top (HKW-19).
    var isLocked = false {
        didSet {
            scroller.hidesScrollbar = isLocked
            if isLocked { scroller.verticalAdjustment.value = 0 }
        }
    }
    private var lastReportedLayout: ComposerLayout?
    /// As GTK breaks the text, once it has a place (SLK-5).
    private var wrappedLines: Int?
    private var isCounting = false

    init(model: any ComposerModel, editor: EditorView, widgets: ComposerWidgets) {
        self.model = model
        self.editor = editor
        textView = widgets.textView
        scroller = widgets.scroller
        textView.setAccessibleLabel(translated("Message"))
        textView.setAccessiblePlaceholder(widgets.placeholder.text)
        // The text view has no margins of its own: GTK 4.8 scrolls them out of view when it grows. A click beside the
        // text means the text all the same.
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        click.connect("pressed") { [weak self] _ in self?.textView.grabFocus() }
        widgets.overlay.addController(click)
        clampScrolling()
        connections += [
            textView.connect("realize") { [weak self] _ in self?.observeWindowHeight() },
            // The surface ends with the window: a bar that goes to another follows that one's.
            textView.connect("unrealize") { [weak self] _ in self?.leaveWindow() },
        ]
        connections.append(
            scroller.horizontalAdjustment.connect("notify::page-size") { [weak self] _ in
                self?.afterLayout { field in
                    field.editor.inlineImages.fit(width: Int(field.scroller.horizontalAdjustment.pageSize))
                }
                self?.countLines()
            })
        // A text view is never narrower than a picture in it, and a window not than a text view that can't be scrolled.
        editor.inlineImages.onPresence = { [weak self] in self?.scroller.scrollsSideways = $0 }
        if gtk_widget_get_realized(textView.cast()) != 0 { observeWindowHeight() }
    }

    isolated deinit {
        leaveWindow()
        connections.forEach { $0.disconnect() }
    }

    // MARK: Growing

    /// - Parameter isExpanded: holds the field at its full height, whatever it holds (MIB-8).
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
    /// looking at the bounds again.
    private func clampScrolling() {
        let adjustment = scroller.verticalAdjustment
        connections.append(
            adjustment.connect("value-changed") { [weak self] _ in
                guard let self else { return }
                let adjustment = self.scroller.verticalAdjustment
                let end = self.isLocked ? 0 : max(0, adjustment.upper - adjustment.pageSize)
                if adjustment.value > end { adjustment.value = end }
            })
        // A text view asks for at least its text's height and gets it although the field is lower. When the field has
        // grown too, nothing has changed for the view, and it goes on scrolling by the lower height (GTK 4.8).
        connections.append(
            adjustment.connect("notify::upper") { [weak self] _ in
                self?.afterLayout { $0.onHeightChange?() }
                self?.countLines()
                self?.catchUp()
            })
        connections.append(
            adjustment.connect("notify::page-size") { [weak self] _ in
                self?.afterLayout { field in
                    field.editor.scrollToCaret()
                    field.onHeightChange?()
                }
            })
    }

    /// Adjustments tell of a change while widgets get their places. What changes a size in answer waits for the next
    /// frame: GTK from 4.18 does not paint what asks for another layout within a layout.
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

    /// How many lines of the font the field has room for now.
    var visibleLines: Double { scroller.verticalAdjustment.pageSize / max(1, lineHeight) }

    /// Whether there is more text than the field may ever show; not while it is still growing.
    var overflows: Bool {
        // Lines may be a pixel taller than the font says; a line too many is more than half of one.
        heightLimit > 0 && scroller.verticalAdjustment.upper > Double(heightLimit) + lineHeight / 2
    }

    /// - Returns: whether the field is on its way to another height.
    private func catchUpWithHeight() -> Bool {
        let adjustment = scroller.verticalAdjustment
        let page = Int(adjustment.pageSize)
        guard adjustment.upper > adjustment.pageSize else { return false }
        guard scroller.height != page else { return page != heightLimit }
        // All around it, too: a scrollbar that comes or goes in a layout that only goes through to the text would leave
        // the composer unpainted (GTK 4.8), see TimelineList.queueLayout().
        textView.queueResize()
        return true
    }

    // MARK: Lines

    /// The text may have become another, or the width that it is broken to.
    func countLines() {
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
        // Beyond the limit only that it is reached matters to how the bar looks: about as many as are tall enough.
        let byHeight = Int((scroller.verticalAdjustment.upper / lineHeight).rounded())
        let lines = counted <= lineLimit ? counted : max(counted, byHeight, editor.brokenLines)
        guard lines != model.composer.lines || lines != wrappedLines else { return }
        wrappedLines = lines
        measure()
    }

    // MARK: The window

    private func observeWindowHeight() {
        leaveWindow()
        guard let native = gtk_widget_get_native(textView.cast()), let surface = gtk_native_get_surface(native) else {
            return
        }
        let object = Object(borrowing: UnsafeMutableRawPointer(surface))
        surfaceLayout = object.connect("layout") { [weak self] _ in self?.windowChanged() }
        measure()
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

    /// A text view breaks its lines anew after it was asked for its height, and asks for no other one by itself when they
    /// have become fewer (GTK 4.8).
    private func updateWindowWidth() {
        guard let root = gtk_widget_get_root(textView.cast()) else { return }
        let width = Widget(borrowing: UnsafeMutableRawPointer(root)).width
        guard width != windowWidth else { return }
        windowWidth = width
        var frames = 0
        textView.addTick { [weak self] in
            frames += 1
            if frames == 2 { self?.textView.queueResize() }
            return frames < 2
        }
    }

    private func measure() {
        guard let root = gtk_widget_get_root(textView.cast()) else { return }
        let window = Widget(borrowing: UnsafeMutableRawPointer(root))
        lineHeight = editor.lineHeight
        let layout = ComposerLayout(
            windowHeight: Double(window.height), lineHeight: lineHeight, lines: wrappedLines,
            textScale: TextZoom.scale(of: textView))
        let counts = panelPolicy(model.composer.isFocused)
        panel.update(width: Double(window.width), height: Double(window.height), counts: counts)
            .forEach { onPanel?($0) }
        guard window.height > 0, layout != lastReportedLayout || wrappedLines != model.composer.lines else { return }
        lastReportedLayout = layout
        model.handle(.layout(layout))
        // A font of another size, while the number of lines has stayed.
        limitHeight(toLines: lineLimit, isExpanded: isExpanded)
    }
}
