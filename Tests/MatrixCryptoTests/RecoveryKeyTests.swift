import ChatCore
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn)) struct RecoveryKeyTests {
    /// From the tests of matrix-rust-sdk.
    private static let bytes: [UInt8] = [
        159, 189, 70, 187, 52, 81, 113, 198, 246, 2, 44, 154, 37, 213, 104, 27, 165, 78, 236, 106, 108, 73, 83, 243,
        173, 192, 185, 110, 157, 145, 173, 163,
    ]
    private static let text = "EsTp RvZT njck 8Yrh RAtw XLS8 4Nr2 r9S9 LGAW DaEx VAPB vLRK"

    @Test("A recovery key has the form that other clients use.") func knownKey() throws {
        #expect(RecoveryKeyCodec.text(of: try KeyMaterial(bytes: Self.bytes)).text == Self.text)
        for text in [
            Self.text, Self.text.filter { $0 != " " },
            "EsT           pRvZTnjck8    YrhRAtw XLS84Nr2r9S9LGAWDaExVAPBvLRK   ",
            "\n\tEsTp\u{A0}RvZT\r\nnjck8YrhRAtwXLS84Nr2r9S9LGAWDaExVAPBvLRK\u{2003}",
        ] {
            #expect(try RecoveryKeyCodec.key(from: text).isEqual(to: KeyMaterial(bytes: Self.bytes)), "\(text)")
        }
    }

    @Test("Any key is read back as it was written.") func roundTrip() throws {
        for bytes in [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 0xFF, count: 32)] {
            let key = try KeyMaterial(bytes: bytes)
            #expect(try RecoveryKeyCodec.key(from: RecoveryKeyCodec.text(of: key).text).isEqual(to: key))
        }
        for _ in 0..<200 {
            let key = try KeyMaterial()
            let text = RecoveryKeyCodec.text(of: key).text
            #expect(text.split(separator: " ").map(\.count) == Array(repeating: 4, count: 12))
            #expect(try RecoveryKeyCodec.key(from: text).isEqual(to: key))
        }
    }

    @Test("A single mistyped character is detected.") func mistyped() throws {
        let text = Array(Self.text.filter { $0 != " " })
        var accepted = 0
        for index in text.indices {
            for other in "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz" where other != text[index] {
                var changed = text
                changed[index] = other
                // One in 256 has the right parity by chance, if its prefix is right.
                if (try? RecoveryKeyCodec.key(from: String(changed))) != nil { accepted += 1 }
            }
        }
        #expect(accepted < 48 * 57 / 100)
    }

    @Test(
        "Anything but a recovery key is rejected.",
        arguments: [
            "", " ", "EsTpRvZTnjck8YrhRAtwXLS84Nr2r9S9LGAWDaExVAPBvLRk",
            "AATpRvZTnjck8YrhRAtwXLS84Nr2r9S9LGAWDaExVAPBvLRk", "AATpRvZTnjck8YrhRAtwXLS84Nr2r9S9",
            "AATpRvZTnjck8YrhRAtwXLS84Nr0OIl", "1EsTpRvZTnjck8YrhRAtwXLS84Nr2r9S9LGAWDaExVAPBvLRK",
            "EsTpRvZTnjck8YrhRAtwXLS84Nr2r9S9LGAWDaExVAPBvLRKEsTp", "ЕsTpRvZTnjck8YrhRAtwXLS84Nr2r9S9LGAWDaExVAPBvLRK",
            String(repeating: "z", count: 100_000), String(repeating: "1", count: 35), "It's a secret to everybody",
        ])
    func malformed(_ text: String) {
        #expect(throws: RecoveryKeyCodec.Failure.malformed) { try RecoveryKeyCodec.key(from: text) }
    }

    @Test("A recovery key is never printed.") func hidden() throws {
        let key = RecoveryKeyCodec.text(of: try KeyMaterial())
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] { #expect(!text.contains(key.text.prefix(4))) }
    }
}
