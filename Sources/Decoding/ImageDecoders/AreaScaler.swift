import Glibc
import MediaDecoding

/// Downscales an image line by line with an area average, so no detail of the original is lost. Colors are weighted by
/// alpha.
final class AreaScaler {
    /// The pixels of the output so far.
    let output: PixelMemory
    private let from: (width: Int, height: Int)
    private let to: (width: Int, height: Int)
    private let hasAlpha: Bool
    /// The weighted sums of the current output line, four per source pixel.
    private let sums: UnsafeMutablePointer<Float>?
    private var lineCount = 0

    /// - Parameters:
    ///   - to: The target size, at most `from` in either direction.
    ///   - hasAlpha: `false` for four independent channels, as in CMYK.
    init(
        from: (width: Int, height: Int), to: (width: Int, height: Int), hasAlpha: Bool
    ) throws(ImageFailure) {
        precondition(to.width > 0 && to.height > 0 && to.width <= from.width && to.height <= from.height)
        self.from = from
        self.to = to
        self.hasAlpha = hasAlpha
        output = try PixelMemory(to.width * to.height)
        if from == to {
            sums = nil
        } else {
            guard let memory = calloc(from.width, MemoryLayout<SIMD4<Float>>.stride) else { throw .stopped }
            sums = memory.bindMemory(to: Float.self, capacity: from.width * 4)
        }
    }

    deinit { free(sums) }

    /// The place of the next line if none is scaled.
    var nextLine: UnsafeMutablePointer<UInt8>? {
        sums == nil && lineCount < from.height ? output.bytes + lineCount * from.width * 4 : nil
    }

    /// Adds the next source line from the top; lines beyond the height are ignored.
    func append(_ line: UnsafePointer<UInt8>) {
        guard lineCount < from.height else { return }
        defer { lineCount += 1 }
        guard let sums else {
            let target = output.bytes + lineCount * from.width * 4
            if target != line { memcpy(target, line, from.width * 4) }
            return
        }
        // In units where a source line is `to.height` high and an output line `from.height`.
        let top = lineCount * to.height
        let row = top / from.height
        let bottom = (row + 1) * from.height
        let inside = min(top + to.height, bottom) - top
        add(line, times: Float(inside) / Float(from.height), to: sums)
        guard top + to.height >= bottom else { return }
        finish(row, sums)
        if inside < to.height { add(line, times: Float(to.height - inside) / Float(from.height), to: sums) }
    }

    // Scalar loops, which the compiler vectorizes; it does not for `SIMD` types of bytes.

    private func add(_ line: UnsafePointer<UInt8>, times weight: Float, to sums: UnsafeMutablePointer<Float>) {
        let count = from.width * 4
        guard hasAlpha, !Self.isOpaque(line, count) else {
            let weight = hasAlpha ? weight * 255 : weight
            for index in 0..<count { sums[index] += Float(line[index]) * weight }
            return
        }
        for index in stride(from: 0, to: count, by: 4) {
            let alpha = Float(line[index + 3]) * weight
            sums[index] += Float(line[index]) * alpha
            sums[index + 1] += Float(line[index + 1]) * alpha
            sums[index + 2] += Float(line[index + 2]) * alpha
            sums[index + 3] += alpha * 255
        }
    }

    private static func isOpaque(_ line: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        var all: UInt8 = 255
        for index in stride(from: 3, to: count, by: 4) { all &= line[index] }
        return all == 255
    }

    /// Writes an output line and resets the sums.
    private func finish(_ row: Int, _ sums: UnsafeMutablePointer<Float>) {
        let target = output.bytes + row * to.width * 4
        let pixels = UnsafeMutableRawPointer(sums).assumingMemoryBound(to: SIMD4<Float>.self)
        let (fromWidth, toWidth, hasAlpha) = (from.width, to.width, hasAlpha)
        // With alpha, sums are weighted by 255.
        let whole = 1 / (Float(fromWidth) * (hasAlpha ? 255 : 1))
        // In units where a source pixel is `to.width` wide and an output pixel `from.width`.
        var (sourceColumn, sourceRemaining) = (0, toWidth)
        for column in 0..<toWidth {
            var sum = SIMD4<Float>.zero
            var needed = fromWidth
            while needed >= sourceRemaining, needed > 0 {
                sum += pixels[sourceColumn] * Float(sourceRemaining)
                needed -= sourceRemaining
                (sourceColumn, sourceRemaining) = (sourceColumn + 1, toWidth)
            }
            if needed > 0 {
                sum += pixels[sourceColumn] * Float(needed)
                sourceRemaining -= needed
            }
            var mean = sum * whole
            if hasAlpha, mean.w > 0 {
                let alpha = mean.w
                mean *= 255 / alpha
                mean.w = alpha
            }
            let pixel = target + column * 4
            for channel in 0..<4 { pixel[channel] = UInt8(min(mean[channel] + 0.5, 255)) }
        }
        memset(sums, 0, fromWidth * MemoryLayout<SIMD4<Float>>.stride)
    }
}
