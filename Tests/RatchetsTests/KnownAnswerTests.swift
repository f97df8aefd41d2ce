import Ratchets
import Testing
import ToolSupport

/// Published test vectors, which show that the right functions of the library are called.
@Suite(.enabled(if: EncryptionSetting.isOn)) struct KnownAnswerTests {
    @Test func sha256() throws {
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(try SHA256.digest(of: Array("abc".utf8)).hex == digest)
        let segments = try SHA256()
        for segment in ["a", "", "bc"] { try Array(segment.utf8).withUnsafeBytes { try segments.update($0) } }
        #expect(try segments.finish().hex == digest)
        // The state is reset.
        #expect(try segments.finish().hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    // RFC 4231, cases 1 and 2.
    @Test func hmac() throws {
        #expect(
            try KeyDerivation.hmacSHA256(of: Array("Hi There".utf8), key: [UInt8](repeating: 0x0b, count: 20)).hex
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            try KeyDerivation.hmacSHA256(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)).hex
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test("An incremental HMAC equals that of the whole.") func hmacOfParts() throws {
        for keySize in [0, 1, 32, 63, 64, 65, 200] {
            let key = try Randomness.bytes(keySize)
            let bytes = try Randomness.bytes(1_000)
            let authentication = try MessageAuthentication(key: key)
            for end in stride(from: 0, to: 1_000, by: 77) { try authentication.update(Array(bytes[end...].prefix(77))) }
            #expect(try authentication.finish() == KeyDerivation.hmacSHA256(of: bytes, key: key))
        }
        #expect(
            try MessageAuthentication(key: Array("Jefe".utf8)).finish()
                == KeyDerivation.hmacSHA256(of: [], key: Array("Jefe".utf8)))
    }

    // RFC 5869, cases 1 and 3.
    @Test func hkdf() throws {
        let input = [UInt8](repeating: 0x0b, count: 22)
        #expect(
            try KeyDerivation.hkdfSHA256(input: input, salt: Array(0...0x0c), info: Array(0xf0...0xf9), count: 42).hex
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
        #expect(
            try KeyDerivation.hkdfSHA256(input: input, salt: [], info: [], count: 42).hex
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
        #expect(throws: RatchetError.argument) {
            try KeyDerivation.hkdfSHA256(input: input, salt: [], info: [], count: 8161)
        }
    }

    @Test func pbkdf2() throws {
        func derived(_ rounds: UInt32, count: Int = 64) throws -> String {
            try KeyDerivation.pbkdf2SHA512(
                passphrase: "password", salt: Array("salt".utf8), rounds: rounds, count: count
            ).hex
        }
        #expect(
            try derived(1)
                == "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252"
                + "c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce")
        #expect(
            try derived(4096)
                == "d197b1b33db0143e018b12f3d1d1479e6cdebdcc97c5c0f87f6902e072f457b5"
                + "143f30602641b3d55cd335988cb36b84376060ecd532e039b742a239434af2d5")
        #expect(try derived(1, count: 32) == "867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252")
        for (rounds, count) in [(UInt32(0), 64), (10_000_001, 64), (.max, 64), (1, 0), (1, 65)] {
            #expect(throws: RatchetError.argument) { try derived(rounds, count: count) }
        }
    }

    // NIST SP 800-38A, F.5.5.
    @Test func aesInCounterMode() throws {
        let key = try KeyMaterial(
            bytes: bytes(hex: "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"))
        let counter = bytes(hex: "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
        let plaintext = bytes(
            hex: "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
        let ciphertext =
            "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
            + "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
        #expect(try CounterCipher(key: key, counter: counter).apply(to: plaintext).hex == ciphertext)
        let segments = try CounterCipher(key: key, counter: counter)
        let first = try segments.apply(to: Array(plaintext.prefix(5)))
        #expect(try (first + segments.apply(to: Array(plaintext.dropFirst(5)))).hex == ciphertext)
        #expect(throws: RatchetError.argument) { try CounterCipher(key: key, counter: []) }
    }

    // RFC 8032, 7.1, tests 1 to 3.
    @Test(arguments: [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595"
                + "bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb43"
                + "02aeeb00d291612bb0c00"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716"
                + "ed28dc027beceea1ec40a"
        ),
    ])
    func ed25519(seed: String, publicKey: String, message: String, signature: String) throws {
        let key = try SigningKey(seed: KeyMaterial(bytes: bytes(hex: seed)))
        #expect(key.publicKey.bytes.hex == publicKey)
        #expect(try key.sign(bytes(hex: message)).bytes.hex == signature)
        try key.publicKey.verify(Signature(bytes: bytes(hex: signature)), of: bytes(hex: message))
        #expect(throws: RatchetError.signature) {
            try key.publicKey.verify(Signature(bytes: bytes(hex: signature)), of: bytes(hex: message) + [0])
        }
        #expect(try key.seed.withBytes { Array(UnsafeBufferPointer(start: $0, count: 32)) }.hex == seed)
    }

    @Test func base64() throws {
        #expect(Base64.encoded(Array("foob".utf8)) == "Zm9vYg")
        #expect(Base64.encoded([]) == "")
        #expect(try Base64.decoded("Zm9vYg") == Array("foob".utf8))
        #expect(try Base64.decoded("Zm9vYg==") == Array("foob".utf8))
        for text in ["Zm9vY", "Zm9v Yg", "Zm9vYg===", "Zm9vYh", "_-_-", "é"] {
            #expect(throws: RatchetError.malformed, "\(text)") { try Base64.decoded(text) }
        }
    }
}

extension [UInt8] {
    var hex: String { map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
}

func bytes(hex: String) -> [UInt8] {
    var digits = hex.compactMap { $0.hexDigitValue }[...]
    var bytes: [UInt8] = []
    while let high = digits.popFirst(), let low = digits.popFirst() { bytes.append(UInt8(high << 4 | low)) }
    return bytes
}
