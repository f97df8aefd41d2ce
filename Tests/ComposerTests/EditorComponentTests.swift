import Synchronization
import Testing

@testable import Composer

/// The smaller components of the editor, each in isolation.
struct EditorComponentTests {
    private func effects(_ transaction: EventTransaction) -> [ComposerEffect] {
        transaction.report(selection: nil, reportsMove: false, isObserved: true).effects
    }

    @Test("A transaction reports edits, then the selection, then effects, then observations")
    func reportIsOrdered() {
        var transaction = EventTransaction()
        transaction.reject(.empty)
        transaction.add(
            TextEvent(range: .caret(0), removed: "", inserted: "a", origin: .typed), isObserved: true, triggers: true)
        let report = transaction.report(selection: .caret(1), reportsMove: true, isObserved: true)
        #expect(
            report.effects == [
                .edited([AppliedEdit(range: .caret(0), replacement: "a")]), .selectionChanged(.caret(1)),
                .rejected(.empty), .observed(.textChanged), .observed(.selectionChanged), .observed(.refused),
            ])
        #expect(report.textEvents.count == 1 && transaction.trigger == .typed("a"))
    }

    @Test("The first change triggers completion, except while observation is suspended")
    func onlyTheFirstChangeTriggersCompletion() {
        var transaction = EventTransaction()
        for (text, triggers) in [("a", true), ("b", true), ("c", false)] {
            transaction.add(
                TextEvent(range: .caret(0), removed: "", inserted: text, origin: .typed), isObserved: false,
                triggers: triggers)
            #expect(transaction.trigger == (triggers ? .typed("a") : .other))
        }
    }

    @Test("MCV-12: writing is reported once, and its end when the text becomes blank")
    func typingIsReportedOnce() {
        var presence = Presence()
        var transaction = EventTransaction(at: .seconds(1))
        presence.textChanged(isBlank: false, isUserWriting: true, &transaction)
        presence.textChanged(isBlank: false, isUserWriting: true, &transaction)
        presence.textChanged(isBlank: true, isUserWriting: true, &transaction)
        let typing = effects(transaction).compactMap { if case .typing(let isTyping) = $0 { isTyping } else { nil } }
        #expect(typing == [true, false] && presence.deadline == nil)
    }

    @Test("A preedit is reported when it changes, and contains no NUL")
    func preeditIsReportedWhenItChanges() {
        var preedit = Preedit()
        var transaction = EventTransaction()
        preedit.show("a\0", &transaction)
        preedit.show("a", &transaction)
        preedit.end(&transaction)
        #expect(preedit.isEmpty && effects(transaction).count == 2)
    }

    @Test("A highlight lasts until the next change after the one that set it")
    func highlightLastsUntilTheNextChange() throws {
        var document = ComposerDocument("Ann")
        let range = TextRange(location: 0, length: 3)
        let added = document.addMention(Mention(.member("@ann"), text: "Ann"), over: range)
        let span = try #require(added)
        var highlight = MentionHighlight()
        highlight.arm(span.id)
        highlight.endTransaction(hasChanges: true)
        #expect(highlight.mention(in: document, selection: .caret(3)) == span.id)
        highlight.endTransaction(hasChanges: false)
        #expect(highlight.mention(in: document, selection: range) == nil, "only at a caret")
        highlight.endTransaction(hasChanges: true)
        #expect(highlight.mention(in: document, selection: .caret(3)) == nil)
    }

    @Test("HKW-33: only the outermost resume returns the observed state")
    func outermostResumeReturnsTheObservedState() {
        var suspension = ObservationSuspension()
        suspension.suspend(ComposerDocument("first"), .caret(1))
        suspension.suspend(ComposerDocument("second"), .caret(2))
        #expect(suspension.resume() == nil)
        #expect(suspension.isActive)
        #expect(suspension.resume()?.document.text == "first")
        #expect(suspension.resume() == nil)
        #expect(!suspension.isActive)
    }

    @Test("HKW-33: only the next deletion of a single character is ignored, and only once")
    func oneDeletionIsIgnoredOnce() {
        var suspension = ObservationSuspension()
        let document = ComposerDocument("abc")
        let one = TextRange(location: 0, length: 1)
        #expect(suspension.ignoresDeletion(of: one, in: document) == false)
        suspension.ignoreNextSingleDeletion()
        let two = TextRange(location: 0, length: 2)
        let ignored = [two, one, one].map { suspension.ignoresDeletion(of: $0, in: document) }
        #expect(ignored == [false, true, false])
    }

    @Test("A hidden bar has no height and cannot be focused")
    func hiddenBarHasNoHeight() {
        var bar = BarState()
        var transaction = EventTransaction()
        let height = bar.height(of: ComposerDocument(), ComposerConfiguration(), isEditing: false)
        bar.setHidden(true, &transaction)
        #expect(height > 0 && bar.height(of: ComposerDocument(), ComposerConfiguration(), isEditing: false) == 0)
        let hasFocus = bar.setFocus(true, &transaction)
        #expect(!hasFocus)
    }

    @Test("SLK-5: wrapped lines count until the text is replaced")
    func wrappedLinesCountUntilReplaced() {
        var bar = BarState()
        bar.setLayout(ComposerLayout(windowHeight: 720, lineHeight: 20, lines: 3), hardLines: 1)
        #expect(bar.lineCount(of: ComposerDocument("a")) == 3 && bar.lineCount(of: ComposerDocument()) == 1)
        bar.textReplaced()
        #expect(bar.lineCount(of: ComposerDocument("a\nb")) == 2)
    }

    private final class Interceptor: ComposerInterceptor {
        let name: String
        let interception: Interception
        let calls = Mutex(0)

        init(_ name: String, _ interception: Interception) {
            self.name = name
            self.interception = interception
        }

        func intercept(_ change: TextEdit, origin: EditOrigin, in document: ComposerDocument) -> Interception {
            calls.withLock { $0 += 1 }
            return interception
        }
    }

    @Test("HKW-4: the first denying interceptor ends the chain, and none runs while suspended")
    func firstDenyingInterceptorEndsTheChain() {
        var plugIns = PlugIns()
        let chain = [Interceptor("a", .allow), Interceptor("b", .deny), Interceptor("c", .allow)]
        let added = (chain + [Interceptor("a", .deny)]).map { plugIns.add($0) }
        #expect(added == [true, true, true, false], "the name is used already")
        let edit = TextEdit(range: .caret(0), replacement: "x")
        var transaction = EventTransaction()
        let isAllowed = plugIns.allow(edit, origin: .typed, in: ComposerDocument(), &transaction)
        #expect(!isAllowed)
        #expect(chain.map { $0.calls.withLock { $0 } } == [1, 1, 0])
        #expect(effects(transaction).first == .rejected(.denied(by: "b")))
        plugIns.suspension.suspend(ComposerDocument(), .caret(0))
        let isAllowedUnasked = plugIns.allow(edit, origin: .typed, in: ComposerDocument(), &transaction)
        #expect(isAllowedUnasked)
    }
}
