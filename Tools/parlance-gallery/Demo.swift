import CGtk
import ChatGtk
import ChatViewModels
import Composer
import ComposerGtk
import ComposerSessions
import GtkKit

/// A composer to experiment with and a log of its events, mainly for testing input methods (HKW-71).
final class Demo {
    private let log = Box(.vertical, spacing: 3)
    private let window: Widget
    private let onClose: @MainActor () -> Void

    private static let laureates = [
        "Alan Perlis", "Maurice Wilkes", "Richard Hamming", "Marvin Minsky", "James Wilkinson", "John McCarthy",
        "Edsger Dijkstra", "Charles Bachman", "Donald Knuth", "Allen Newell", "Herbert Simon", "Michael Rabin",
        "Dana Scott", "John Backus", "Robert Floyd", "Kenneth Iverson", "Tony Hoare", "Edgar Codd", "Stephen Cook",
        "Ken Thompson", "Dennis Ritchie", "Niklaus Wirth", "Richard Karp", "John Hopcroft", "Barbara Liskov",
    ]

    init(onClose: @escaping @MainActor () -> Void) {
        self.onClose = onClose
        window = Widget(sinking: gtk_window_new())
        window.withPointer { gtk_window_set_title($0, "Composer") }
        window.withPointer { gtk_window_set_default_size($0, 700, 560) }
        let widget = ComposerHost.make()
        window.withPointer { first in widget.withPointer { second in gtk_window_set_child(first, second) } }
        guard let host = ComposerHost.of(widget), let bar = host.bar else { return }
        host.setContent(ScrolledWindow(log))
        // Hakawai's defaults: three prefixes, and implicit completion for any word of three letters.
        bar.session.configuration = .preset(.hakawai)
        bar.session.completionSources = ["@", "+", "＠", ""].map { MemberSource(prefix: $0, names: Self.laureates) }
        addTransforms(to: bar)
        listen(to: bar, widget: bar.widget)
        window.connect("close-request") { [weak self] _ in self?.onClose() }
        window.withPointer { gtk_window_present($0) }
        bar.grabFocus()
    }

    private func listen(to bar: ComposerBar, widget: Widget) {
        bar.session.onSend = { [weak self] in self?.note("send “\($0.text.source)”, \($0.mentions.count) mentions") }
        bar.session.onEffect = { [weak self] in self?.note("\($0)") }
        widget.connect("changed") { [weak self, weak bar] _ in self?.note("changed “\(bar?.text ?? "")”") }
        widget.connect("moved") { [weak self] in self?.note("moved to \($0.double(0)), \($0.double(1))") }
        widget.connect("size-changed") { [weak self] in self?.note("size \($0.double(0)) × \($0.double(1))") }
        widget.connect("swiped") { [weak self] in self?.note("swiped \($0.string(0))") }
    }

    private func addTransforms(to bar: ComposerBar) {
        let transforms: [(String, @MainActor (String) -> String)] = [
            ("Reverse", { String($0.reversed()) }), ("ROT13", { String($0.map(Self.rotated)) }),
        ]
        for (name, transform) in transforms {
            bar.itemAppearances[name] = ItemAppearance(label: name)
            bar.items.add(
                ComposerItem(id: name).configured { $0.size = nil }.on(.pressed) { [weak bar] _ in
                    bar?.session.transform(nil) { text in MainActor.assumeIsolated { transform(text) } }
                }, to: .bottom)
        }
    }

    private static func rotated(_ character: Character) -> Character {
        guard let value = character.asciiValue, character.isLetter else { return character }
        let first: UInt8 = character.isUppercase ? 65 : 97
        return Character(UnicodeScalar((value - first + 13) % 26 + first))
    }

    /// Logs an entry on top, keeping the last hundred.
    private func note(_ text: String) {
        let label = Label(text)
        label.withPointer { gtk_label_set_xalign($0, 0) }
        label.withPointer { gtk_label_set_wrap($0, 1) }
        log.withPointer { first in label.withPointer { second in gtk_box_prepend(first, second) } }
        if let last = log.children.dropFirst(100).last { log.remove(last) }
    }
}

/// Matches members whose names have a word that begins with the query.
private struct MemberSource: CompletionSource {
    let prefix: String
    let names: [String]

    func batches(for query: CompletionQuery) -> AsyncThrowingStream<[CompletionEntity], any Error> {
        let text = query.text.lowercased()
        let found = names.filter { name in
            text.isEmpty || name.lowercased().split(separator: " ").contains { $0.hasPrefix(text) }
        }
        return AsyncThrowingStream { stream in
            stream.yield(found.map { CompletionEntity(id: $0, name: $0) })
            stream.finish()
        }
    }
}
