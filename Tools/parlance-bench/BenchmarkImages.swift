import CJpeg
import CPng
import CWebP
import Foundation
import ToolSupport

/// Deterministic images to decode.
enum BenchmarkImages {
    /// A wave pattern with noise, as RGBA.
    static func photo(_ width: Int, _ height: Int) -> [UInt8] {
        var random = SeededGenerator(seed: 7)
        var pixels = [UInt8](repeating: 255, count: width * height * 4)
        for y in 0..<height {
            let v = Double(y) / Double(height) * 12
            for x in 0..<width {
                let u = Double(x) / Double(width) * 18
                let noise = Double(random.next() & 7)
                let offset = (y * width + x) * 4
                pixels[offset] = UInt8(120 + 90 * sin(u + 0.7 * sin(v * 2)) + noise)
                pixels[offset + 1] = UInt8(120 + 70 * sin(v + u / 3) + noise)
                pixels[offset + 2] = UInt8(140 + 80 * cos(u / 2 - v) + noise)
            }
        }
        return pixels
    }

    static func jpeg(_ pixels: [UInt8], _ width: Int, _ height: Int) -> [UInt8] {
        var count = 0
        guard let bytes = shim_jpeg_of(pixels, Int32(width), Int32(height), 88, &count) else { return [] }
        defer { free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    static func png(_ pixels: [UInt8], _ width: Int, _ height: Int) -> [UInt8] {
        var image = png_image()
        image.version = 1
        (image.width, image.height) = (UInt32(width), UInt32(height))
        // PNG_FORMAT_RGBA
        image.format = 3
        var bytes = [UInt8](repeating: 0, count: width * height * 5 + 10_000)
        var count = bytes.count
        guard png_image_write_to_memory(&image, &bytes, &count, 0, pixels, 0, nil) != 0 else { return [] }
        return Array(bytes.prefix(count))
    }

    static func webp(_ pixels: [UInt8], _ width: Int, _ height: Int) -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = WebPEncodeRGBA(pixels, Int32(width), Int32(height), Int32(width * 4), 80, &bytes)
        defer { WebPFree(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Frames of noise that cover the whole image; each pixel is an LZW code of its own.
    static func gif(_ width: Int, _ height: Int, frames: Int) -> [UInt8] {
        func little(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8)] }
        var random = SeededGenerator(seed: 8)
        var bytes = Array("GIF89a".utf8) + little(width) + little(height) + [0xF6, 0, 0]
        for shade in 0..<128 { bytes += [UInt8(shade * 2), UInt8(255 - shade), UInt8(shade)] }
        bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        for _ in 0..<frames {
            bytes += [0x21, 0xF9, 4, 0, 5, 0, 0, 0, 0x2C, 0, 0, 0, 0] + little(width) + little(height) + [0, 7]
            // Codes of eight bits, with a clear code before the code size grows.
            var data: [UInt8] = []
            for index in 0..<width * height {
                if index % 120 == 0 { data.append(128) }
                data.append(UInt8(random.next() & 127))
            }
            data.append(129)
            for start in stride(from: 0, to: data.count, by: 255) {
                let block = data[start..<min(start + 255, data.count)]
                bytes += [UInt8(block.count)] + block
            }
            bytes.append(0)
        }
        return bytes + [0x3B]
    }
}
