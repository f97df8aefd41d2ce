import Composer
import Testing

/// MIB-1 to MIB-4, MIB-11 to MIB-14, MIB-16, MCV-10: the items beside the text, without a bar widget.
struct ComposerItemTests {
    private final class Log { var lines: [String] = [] }

    private func item(_ id: String, _ log: Log) -> ComposerItem {
        let item = ComposerItem(id: id)
        for event in ItemEvent.allCases { item.on(event) { log.lines.append("\($0.id) \(event.rawValue)") } }
        return item.onTextChanged { log.lines.append("\($0.id) \($1.text)") }
            .onSwipe { log.lines.append("\($0.id) \($1)") }
    }

    /// MIB-13: change, reported events. ⚠ "enabled" was reported for every assignment.
    static let changes: [(String, @Sendable (ComposerItem) -> Void, [String])] = [
        ("enabled as it was", { $0.isEnabled = true }, []), ("disabled", { $0.isEnabled = false }, ["disabled"]),
        (
            "disabled twice",
            {
                $0.isEnabled = false
                $0.isEnabled = false
            }, ["disabled"]
        ),
        (
            "there and back",
            {
                $0.isEnabled = false
                $0.isEnabled = true
            }, ["disabled", "enabled"]
        ),
        (
            "held down",
            {
                $0.isSelected = true
                $0.isSelected = true
            }, ["selected"]
        ),
        (
            "let go",
            {
                $0.isSelected = true
                $0.isSelected = false
            }, ["selected", "deselected"]
        ),
        (
            "disabled while held",
            {
                $0.isSelected = true
                $0.isEnabled = false
            }, ["selected", "disabled", "deselected"]
        ),
        (
            "held while disabled",
            {
                $0.isEnabled = false
                $0.isSelected = true
            }, ["disabled"]
        ),
        ("pressed", { $0.press() }, ["pressed"]), ("long", { $0.longPress() }, ["longPressed"]),
        (
            "pressed while disabled",
            {
                $0.isEnabled = false
                $0.press()
                $0.longPress()
            }, ["disabled"]
        ),
        (
            "pressed while hidden",
            {
                $0.isVisible = false
                $0.press()
            }, []
        ),
        (
            "hovered",
            {
                $0.isHovered = true
                $0.isHovered = true
                $0.isHovered = false
            }, ["hoverBegan", "hoverEnded"]
        ),
    ]

    @Test(arguments: changes)
    func hooksRunOnlyForActualChanges(name: String, change: @Sendable (ComposerItem) -> Void, reported: [String]) {
        let log = Log()
        let item = item("i", log)
        change(item)
        #expect(log.lines == reported.map { "i \($0)" }, "\(name)")
    }

    /// MIB-13: calls chain; `configured` runs at once, and a second hook for the same event replaces the first.
    @Test func hooksCanBeChainedAndReplaced() {
        let log = Log()
        let item = ComposerItem(id: "send")
            .configured { $0.isEnabled = false }
            .on(.enabled) { _ in log.lines.append("first") }
            .on(.enabled) { _ in log.lines.append("second") }
        #expect(!item.isEnabled)
        item.isEnabled = true
        #expect(log.lines == ["second"])
    }

    /// MIB-14: start, end, bottom, top, outside, whatever the order of insertion.
    @Test func itemsReceiveComposerEventsInSlotOrder() {
        let log = Log()
        let slots = ItemSlots()
        for slot in [ItemSlot.outside, .top, .bottom, .end, .start] { slots.set([item("\(slot)", log)], in: slot) }
        var script = ComposerScript()
        func reported(_ event: ComposerEvent) -> [String] {
            log.lines = []
            script.send(event)
            slots.handle(script.effects, document: script.engine.document)
            return log.lines
        }
        let order = ["start", "end", "bottom", "top", "outside"]
        #expect(reported(.insert("hé", origin: .typed)) == order.map { "\($0) hé" })
        #expect(reported(.focus(true)) == order.map { "\($0) editingBegan" })
        #expect(reported(.focus(true)) == [])
        #expect(reported(.select(.caret(0))) == [])
        #expect(reported(.focus(false)) == order.map { "\($0) editingEnded" })
        log.lines = []
        slots.swipe(.left)
        #expect(log.lines == order.map { "\($0) left" })
    }

    /// MIB-4, MCV-10: ⚠ replaced items stayed, and moved items were in two slots or moved one main-loop iteration late.
    @Test func slotsHoldTheirItems() {
        let log = Log()
        let slots = ItemSlots()
        var changed: [ItemSlot] = []
        slots.changed = { changed.append($0) }
        let (send, attach, emoji) = (item("send", log), item("attach", log), item("emoji", log))
        slots.set([send, emoji, send], in: .end)
        #expect(slots.items(in: .end).map(\.id) == ["send", "emoji"] && send.slot == .end)
        slots.set([attach], in: .start)
        slots.set([send], in: .start)
        #expect(slots.all.map(\.id) == ["send", "emoji"])
        #expect(attach.slot == nil && send.slot == .start)
        #expect(changed == [.end, .start, .end, .start])
        slots.set([send], in: .start)
        #expect(changed.count == 4, "nothing is different")
        slots.add(attach, to: .start)
        slots.remove("send")
        slots.remove("send")
        #expect(slots.items(in: .start).map(\.id) == ["attach"] && send.slot == nil && slots.item("send") == nil)
    }

    /// A hook may remove an item, which then receives no further events.
    @Test func hooksCanChangeSlots() {
        let log = Log()
        let slots = ItemSlots()
        let first = item("first", log).onSwipe { [slots] item, _ in
            log.lines.append(item.id)
            slots.set([], in: .end)
        }
        slots.set([first], in: .start)
        slots.set([item("second", log)], in: .end)
        slots.swipe(.right)
        #expect(log.lines == ["first"])
        slots.swipe(.right)
    }

    /// MIB-12: 15 pixels by default below the text, none elsewhere.
    @Test func spacingHasDefaultsPerSlot() {
        let slots = ItemSlots()
        #expect(ItemSlot.allCases.map { slots.spacing(in: $0) } == [0, 0, 15, 0, 0])
        var changes = 0
        slots.changed = { _ in changes += 1 }
        for spacing in [4.0, 4, -3, nil] as [Double?] { slots.setSpacing(spacing, in: .start) }
        #expect(slots.spacing(in: .start) == 0 && changes == 2)
        let spacings: [(ItemSpacing, Double, Bool)] = [
            (.none, 0, false), (.fixed(12), 12, false), (.fixed(-5), 0, false), (.flexible, 0, true),
        ]
        for (spacing, extra, expands) in spacings {
            #expect(spacing.extraWidth == extra && spacing.expands == expands)
        }
    }

    /// MIB-3, MIB-11, MIB-12: an item's view is notified of appearance changes, and only of actual changes.
    @Test func appearanceChangesAreReported() {
        let item = ComposerItem(id: "i")
        #expect(item.size == ComposerSize(width: 20, height: 20))
        var changes = 0
        item.changed = { _ in changes += 1 }
        for _ in 0..<2 {
            item.size = nil
            item.spacing = .flexible
            item.isVisible = false
            item.isEnabled = false
        }
        #expect(changes == 4)
    }

    /// MIB-11: a minimum target size of 34 pixels, 44 for touch.
    @Test(arguments: [
        (20.0, 20.0, false, 34.0, 34.0), (20, 60, false, 34, 60), (40, 20, true, 44, 44), (52, 36, true, 52, 44),
    ])
    func hitAreaHasAMinimumSize(width: Double, height: Double, touch: Bool, hitWidth: Double, hitHeight: Double) {
        let area = ComposerSize(width: width, height: height).hitArea(forTouch: touch)
        #expect(area == ComposerSize(width: hitWidth, height: hitHeight))
    }

    /// MIB-21: natural width and height, available width, maximum height, resulting size. ⚠ Insets were subtracted
    /// twice, and only on rotation.
    static let pictures: [(Double, Double, Double, Double?, Double, Double)] = [
        (100, 50, 400, nil, 100, 50), (800, 400, 400, nil, 400, 200), (800, 400, 400, 100, 200, 100),
        (100, 1000, 400, 200, 20, 200), (100, 50, 0, nil, 0, 0), (0, 50, 400, nil, 0, 0), (100, 50, -5, 10, 0, 0),
        (.nan, 5, 5, 5, 0, 0), (.infinity, 5, 5, 5, 0, 0), (100, 50, .infinity, .infinity, 100, 50),
    ]

    @Test(arguments: pictures)
    func imageSizeIsScaledToTheWidth(
        width: Double, height: Double, room: Double, highest: Double?, shown: Double, high: Double
    ) {
        let size = ComposerSize(width: width, height: height).scaled(toWidth: room, maxHeight: highest)
        #expect(size == ComposerSize(width: shown, height: high))
    }
}
