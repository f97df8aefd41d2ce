import ChatTestSupport
import Foundation
import Fuzzing
import MediaDecoding
import Testing
import ToolSupport

/// Every image format, decoded by the process that the application starts.
struct ImageFormatTests {
    @Test(arguments: ImageFixtures.all)
    func colorsAreDecoded(fixture: ImageFixtures.Fixture) throws {
        let bytes = ImageFixtures.bytes(fixture.name)
        let seen = try DecoderOutput(bytes)
        #expect(seen.failure == nil)
        #expect(seen.width == fixture.size.width && seen.height == fixture.size.height && !seen.isAnimated)
        let frame = try #require(seen.frames.first)
        #expect(frame.width == fixture.size.width && frame.height == fixture.size.height)
        for (index, (pixel, color)) in zip(frame.quarters, ImageFixtures.colors).enumerated() {
            #expect(abs(pixel[3] - (index < 2 ? 255 : fixture.alpha)) <= (fixture.alpha == 128 ? 2 : 0))
            let light = (color[0] * 2126 + color[1] * 7152 + color[2] * 722) / 10_000
            for channel in 0..<3 {
                // Allow for different luma coefficients in grayscale conversions.
                let (expected, tolerance) = fixture.isGray ? (light, 25) : (color[channel], fixture.tolerance)
                #expect(abs(pixel[channel] - expected) <= tolerance, "quarter \(index): \(pixel), not \(color)")
            }
            if fixture.isGray { #expect(pixel[0] == pixel[1] && pixel[1] == pixel[2]) }
        }
        let size = try DecoderOutput(bytes, .size)
        #expect(size.width == seen.width && size.height == seen.height && size.frames.isEmpty && size.failure == nil)
    }

    @Test func bilevelImageIsBlackAndWhite() throws {
        let frame = try #require(try DecoderOutput(ImageFixtures.bytes("two-shades.png")).frames.first)
        #expect(frame.quarters.map { $0[0] } == [0, 255, 0, 255])
    }

    /// Where the four colors appear, for each Exif orientation.
    @Test(
        arguments: zip(
            1...8,
            [
                [0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0], [2, 3, 0, 1], [0, 2, 1, 3], [2, 0, 3, 1], [3, 1, 2, 0],
                [1, 3, 0, 2],
            ]))
    func exifOrientationIsApplied(orientation: Int, order: [Int]) throws {
        var bytes = ImageFixtures.bytes("plain.jpg")
        bytes.insert(
            contentsOf: [0xFF, 0xE1, 0, 34] + Array("Exif\0\0II*\0".utf8)
                + [8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, UInt8(orientation), 0, 0, 0, 0, 0, 0, 0], at: 2)
        let seen = try DecoderOutput(bytes)
        let frame = try #require(seen.frames.first)
        #expect((seen.width == 32) == (orientation >= 5) && seen.width == frame.width && seen.height == frame.height)
        for (pixel, color) in zip(frame.quarters, order.map({ ImageFixtures.colors[$0] })) {
            #expect((0..<3).allSatisfy { abs(pixel[$0] - color[$0]) <= 4 }, "\(pixel), not \(color)")
        }
    }

    /// Bitmaps that ImageMagick does not write: top-down, with custom bit masks, and RLE with deltas.
    @Test func unusualBitmapsAreDecoded() throws {
        let (red, green) = ([220, 40, 40, 255], [40, 180, 60, 255])
        typealias S = SampleImages
        let fromAbove = S.bmp(
            width: 2, height: -2, pixels: [0, 0, 255, 0, 0, 255, 0, 0] + [255, 0, 0, 0, 0, 255, 0, 0])
        #expect(try DecoderOutput(fromAbove).frames.first?.pixel(0, 0) == [255, 0, 0, 255])
        #expect(try DecoderOutput(fromAbove).frames.first?.pixel(0, 1) == [0, 0, 255, 255])
        let masks = S.littleEndian(0x00FF, 4) + S.littleEndian(0xFF00, 4) + S.littleEndian(0xFF_0000, 4)
        var masked = S.bmp(
            width: 2, height: 1, pixels: masks + [220, 40, 40, 0, 40, 180, 60, 0], bits: 32, compression: 3)
        masked[10] = 66
        #expect(try DecoderOutput(masked).frames.first.map { [$0.pixel(0, 0), $0.pixel(1, 0)] } == [red, green])
        let colors: [UInt8] = [40, 40, 220, 0, 60, 180, 40, 0]
        // RLE8: a run of one, a delta of one, two literal pixels, end of line; then end of bitmap.
        let runs: [UInt8] = [1, 1, 0, 2, 1, 0, 0, 3, 0x01, 0x10, 0, 0, 0, 0, 0, 1]
        var packed = S.bmp(
            width: 5, height: 2, pixels: colors + Array(runs.prefix(6)) + [0, 3, 1, 0, 1, 0, 0, 0, 0, 1], bits: 8,
            compression: 1)
        packed[10] = 62
        packed[46] = 2
        let line = try #require(try DecoderOutput(packed).frames.first)
        #expect((0..<5).map { line.pixel($0, 1) } == [green, red, green, red, green])
        #expect(line.pixel(0, 0) == red)
    }

    @Test func gifFramesFollowTheirDisposal() throws {
        let seen = try DecoderOutput(ImageFixtures.bytes("disposal.gif"), .play)
        let (red, green, blue, yellow) = (
            [220, 40, 40, 255], [40, 180, 60, 255], [40, 60, 200, 255], [230, 210, 50, 255]
        )
        let nothing = [0, 0, 0, 0]
        let once = [
            // The whole frame; its left half, then disposed; its upper right, then restored; a corner.
            [red, red, red, red], [green, red, green, red], [nothing, blue, nothing, red],
            [nothing, red, nothing, yellow],
        ]
        #expect(seen.isAnimated && seen.failure == nil)
        // Played twice as the file says. A frame without a delay gets the browsers' default.
        #expect(seen.frames.map(\.delay) == [200, 50, 100, 300, 200, 50, 100, 300])
        let places = [(16, 8), (48, 8), (16, 24), (56, 24)]
        #expect(seen.frames.map { frame in places.map { frame.pixel($0.0, $0.1) } } == once + once)
    }

    @Test func animationWithoutATrailerIsShown() throws {
        let bytes = Array(ImageFixtures.bytes("disposal.gif").dropLast())
        #expect(try DecoderOutput(bytes, .play, most: 5).frames.count == 5)
    }

    // MARK: Downscaling

    /// Downscaling averages all rows, each exactly once.
    @Test func downscalingAveragesFinePatterns() throws {
        let line = (0..<256).flatMap { x -> [UInt8] in Array(repeating: x % 2 == 0 ? 255 : 0, count: 3) }
        let bytes = SampleImages.bmp(width: 256, height: 200, pixels: Array((0..<200).map { _ in line }.joined()))
        let frame = try #require(try DecoderOutput(bytes, side: 64).frames.first)
        #expect(frame.width == 64 && frame.height == 50)
        #expect(
            frame.pixels.enumerated().allSatisfy { place, value in place % 4 == 3 ? value == 255 : (127...128) ~= value
            })
    }

    @Test func transparentPixelsDoNotAffectColors() throws {
        let frame = try #require(
            try DecoderOutput(ImageFixtures.bytes("palette-transparent.png"), side: 1).frames.first)
        let pixel = frame.pixel(0, 0)
        // The mean of red and green, at the alpha of half the image.
        #expect(zip(pixel, [130, 110, 50, 128]).allSatisfy { abs($0 - $1) <= 1 }, "\(pixel)")
    }

    @Test(arguments: ["plain.jpg", "progressive.jpg", "alpha.webp", "plain.tif", "plain.avif", "plain.heic"])
    func everyFormatCanBeDownscaled(name: String) throws {
        let frame = try #require(try DecoderOutput(ImageFixtures.bytes(name), side: 8).frames.first)
        #expect(frame.width == 8 && frame.height == 4)
        for (pixel, color) in zip(frame.quarters, ImageFixtures.colors) {
            #expect((0..<3).allSatisfy { abs(pixel[$0] - color[$0]) <= 12 }, "\(pixel), not \(color)")
        }
    }

    // MARK: Damage

    /// A truncated file yields the whole image, if only metadata is missing, or an error; never a partial image or a
    /// crash. One TIFF has its color profile at the end: without it the colors differ.
    @Test(arguments: ImageFixtures.all.filter { $0.name != "profile.tif" })
    func truncatedImagesAreReported(fixture: ImageFixtures.Fixture) throws {
        let bytes = ImageFixtures.bytes(fixture.name)
        let whole = try DecoderOutput(bytes)
        for length in stride(from: 17, to: bytes.count, by: max(1, bytes.count / 24)) {
            let cut = try DecoderOutput(Array(bytes.prefix(length)))
            let isReported = [.broken, .tooLarge, .unknownFormat].contains(cut.failure) && cut.frames.isEmpty
            #expect(isReported || cut == whole, "\(length) of \(bytes.count): \(cut.failure as Any)")
        }
    }

    /// Runs in this process, where a crash fails the test. AVIF and HEIC are excluded because their decoders are large.
    @Test(arguments: ImageFuzzRun.Kind.allCases.filter { $0 != .heif })
    func scrambledImagesNeverCrash(kind: ImageFuzzRun.Kind) {
        let endings: [ImageFuzzRun.Kind: String] = [.jpeg: "jpg", .tiff: "tif"]
        let seeds = ImageFixtures.bytes(ofKind: endings[kind] ?? kind.rawValue)
        #expect(!seeds.isEmpty)
        var random = SeededGenerator(seed: 15)
        for round in 0..<300 {
            guard var bytes = seeds.randomElement(using: &random) else { return }
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            #expect(ImageFuzzRun.run(bytes, as: kind) == nil, "round \(round)")
        }
    }
}
