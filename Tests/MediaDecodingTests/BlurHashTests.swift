import MediaDecoding
import Testing

/// The expected values come from another implementation of BlurHash.
@Suite struct BlurHashTests {
    private static func picture(_ width: Int, _ height: Int, _ color: (Int, Int) -> [UInt8]) -> [UInt8] {
        (0..<height).flatMap { y in (0..<width).flatMap { x in color(x, y) + [255] } }
    }

    @Test(arguments: [
        ((4, 3), "LsGuUU2@wxozqlR-jte=g0fjfQfj"), ((1, 1), "00GuUU"), ((3, 5), "csGuUU2@wxqlR-jtg0fjfQt7Sgjteqf7fQ"),
    ])
    func encodesAGradient(waves: (Int, Int), text: String) {
        let pixels = Self.picture(16, 12) { [UInt8($0 * 16), UInt8($1 * 20), 128] }
        #expect(BlurHash(of: pixels, width: 16, height: 12, components: (waves.0, waves.1))?.text == text)
    }

    @Test(arguments: [
        ((4, 3), "L+LlA|sqfQsqsq{@waJ;fQwajsWr"), ((1, 1), "00LlA|"), ((3, 5), "c+LlA|sqfQsq{@wafQwajssqJ;WrfQfQfQ"),
    ])
    func encodesBoxes(waves: (Int, Int), text: String) {
        let pixels = Self.picture(20, 20) { ($0 / 10 + $1 / 10).isMultiple(of: 2) ? [255, 0, 0] : [0, 64, 255] }
        #expect(BlurHash(of: pixels, width: 20, height: 20, components: (waves.0, waves.1))?.text == text)
    }

    @Test(arguments: [
        (
            "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
            [
                135, 164, 177, 161, 173, 177, 181, 180, 171, 160, 172, 174, 124, 154, 169, 148, 148, 154, 164, 145, 134,
                146, 152, 155, 124, 144, 154, 144, 134, 132, 163, 130, 104, 148, 140, 134,
            ]
        ),
        (
            "LGF5]+Yk^6#M@-5c,1J5@[or[Q6.",
            [
                176, 118, 163, 167, 119, 184, 118, 100, 169, 167, 79, 126, 149, 142, 180, 109, 138, 198, 113, 117, 143,
                149, 108, 109, 145, 161, 153, 92, 153, 178, 100, 129, 135, 119, 116, 108,
            ]
        ),
        ("00TI:j", Array(repeating: [255, 0, 0], count: 12).flatMap { $0 }),
    ])
    func decodesPixels(text: String, colors: [Int]) throws {
        let pixels = try #require(BlurHash(text)).pixels(width: 4, height: 3)
        #expect(stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 255 })
        let found = pixels.enumerated().filter { $0.offset % 4 != 3 }.map { Int($0.element) }
        #expect(found.count == colors.count)
        #expect(zip(found, colors).allSatisfy { abs($0 - $1) <= 1 }, "\(found)")
    }

    @Test(arguments: [
        "", "0", "00TI:", "00TI:jj", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "LEHV6nWB2yk8pyo0adR*.7kCMdnjj",
        // Invalid digits, a color beyond white, components out of range, more components than data.
        "00TI:\"", "00TI:é", "00~~~~", "10TI:j~~", "~0TI:j", String(repeating: "0", count: 10_000),
    ])
    func rejectsMalformedHashes(text: String) {
        #expect(BlurHash(text) == nil)
    }

    /// Any accepted hash can be rendered, keeps its text, and its pixels can be hashed again.
    @Test func randomAcceptedHashesCanBeRendered() {
        var state: UInt64 = 7
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~ \"é")
        var read = 0
        for _ in 0..<20_000 {
            let (across, down) = (1 + next(4), 1 + next(3))
            let length = 4 + 2 * across * down + (next(8) == 0 ? next(5) - 2 : 0)
            var text = String(digits[across - 1 + (down - 1) * 9])
            while text.count < length { text.append(digits[next(digits.count - (next(9) == 0 ? 0 : 3))]) }
            guard let hash = BlurHash(text) else { continue }
            read += 1
            #expect(hash.text == text)
            let pixels = hash.pixels(width: 3, height: 2)
            #expect(pixels.count == 24)
            #expect(BlurHash(of: pixels, width: 3, height: 2) != nil)
        }
        #expect(read > 1000)
    }

    @Test func rejectsInvalidPixelBuffers() {
        #expect(BlurHash(of: [], width: 0, height: 0) == nil)
        #expect(BlurHash(of: [1, 2, 3, 4], width: 2, height: 1) == nil)
        #expect(BlurHash(of: [1, 2, 3, 4], width: 1, height: 1, components: (0, 10)) == nil)
    }

    @Test func transparentPixelsBecomeWhite() {
        let clear = BlurHash(of: [0, 0, 0, 0], width: 1, height: 1, components: (1, 1))
        #expect(clear == BlurHash(of: [255, 255, 255, 255], width: 1, height: 1, components: (1, 1)))
    }
}
