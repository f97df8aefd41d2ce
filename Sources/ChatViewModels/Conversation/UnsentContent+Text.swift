import ChatCore
import Composer

extension UnsentContent {
    /// The texts of the messages and of the draft, each after an empty line; `nil` if there is none. Of a message without
    /// a text it has the names of the files.
    var text: String? {
        var texts = messages.map { Self.words($0.text, $0.files.map(\.name)) }
        if let draft {
            do throws(DraftError) {
                let read = try ComposerDraft.decode(draft.data)
                let new = read.mode == .compose ? read.content : read.stash
                let contents = (read.unsent ?? []) + [new].compactMap { $0 }
                texts += contents.map { Self.words($0.written, $0.attachments.map(\.name)) }
            } catch {
                texts.append(draft.preview)
            }
        }
        texts.removeAll(where: \.isEmpty)
        return texts.isEmpty ? nil : texts.joined(separator: "\n\n")
    }

    private static func words(_ text: WrittenText, _ files: [String]) -> String {
        text.source.isEmpty ? files.joined(separator: "\n") : text.source
    }
}
