import ChatCore
import MatrixCrypto
import Ratchets

/// Recovery keys as users type them.
struct RecoveryKeyFuzz: CryptoFuzz {
    private let key: KeyMaterial
    private let typed: [UInt8]

    init() async throws {
        key = try KeyMaterial()
        typed = Array(RecoveryKeyCodec.text(of: key).text.utf8)
    }

    mutating func violation(of input: inout FuzzInput) async throws -> String? {
        var text = typed
        if input.flag() {
            text = input.takeRest()
        } else {
            while !input.isEmpty {
                let index = input.number(below: max(1, text.count))
                switch input.number(below: 3) {
                case 0: if index < text.count { text[index] = input.byte() }
                case 1: text.insert(contentsOf: input.bytes(input.number(below: 8)), at: min(index, text.count))
                default: if index < text.count { text.remove(at: index) }
                }
            }
        }
        let string = String(decoding: text, as: UTF8.self)
        _ = SecretStorageKey.resemblesRecoveryKey(string)
        do throws(RecoveryKeyCodec.Failure) {
            let read = try RecoveryKeyCodec.key(from: string)
            if RecoveryKeyCodec.text(of: read).text.filter({ $0 != " " }) != Self.solid(string) {
                return "a recovery key does not come back"
            }
            return text == typed && !read.isEqual(to: key) ? "a recovery key is another" : nil
        } catch {
            return text == typed ? "a recovery key is refused" : nil
        }
    }

    private static func solid(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { !$0.properties.isWhitespace }))
    }
}
