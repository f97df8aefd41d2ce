import Glibc
import MediaDecoding

/// A buffer of 32-bit pixels, initially zero. Throws instead of crashing when memory is exhausted.
final class PixelMemory {
    let bytes: UnsafeMutablePointer<UInt8>
    /// The number of pixels.
    let count: Int

    /// The sizes in bytes whose pages are taken at once, which costs half as much as one after the other: those of a
    /// screen. A file can claim to be larger with hardly any pixels in it.
    private static let wholeSizes = 1 << 20...16 << 20
    private let isMapped: Bool

    init(_ count: Int) throws(ImageFailure) {
        self.count = count
        isMapped = Self.wholeSizes.contains(count * 4)
        let memory =
            isMapped
            ? mmap(nil, count * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)
            : calloc(max(1, count), 4)
        guard let memory, memory != MAP_FAILED else { throw .stopped }
        bytes = memory.assumingMemoryBound(to: UInt8.self)
    }

    deinit {
        if isMapped { munmap(bytes, count * 4) } else { free(bytes) }
    }

    /// The pixels as 32-bit integers.
    var whole: UnsafeMutablePointer<UInt32> {
        UnsafeMutableRawPointer(bytes).assumingMemoryBound(to: UInt32.self)
    }

    var raw: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count * 4) }

    /// Converts premultiplied to straight alpha.
    func divideByAlpha() {
        for offset in stride(from: 0, to: count * 4, by: 4) {
            let alpha = UInt32(bytes[offset + 3])
            guard alpha > 0, alpha < 255 else { continue }
            for channel in offset..<offset + 3 {
                bytes[channel] = UInt8(min(255, (UInt32(bytes[channel]) * 255 + alpha / 2) / alpha))
            }
        }
    }
}
