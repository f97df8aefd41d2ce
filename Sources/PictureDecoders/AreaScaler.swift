import Glibc
import PictureDecoding

/// Makes a picture smaller line by line: each pixel becomes the mean of all that it covers, so that no line or point of
/// the original is lost. Colours count by their alpha.
final class AreaScaler {
    /// What was made of the lines until now.
    let output: PixelMemory
    private let from: (width: Int, height: Int)
    private let to: (width: Int, height: Int)
    private let hasAlpha: Bool
    /// What the lines taken so far add to the line of the output that is at work, four numbers a pixel.
    private let sums: UnsafeMutablePointer<Float>?
    private var lineCount = 0

    /// - Parameters:
    ///   - to: no larger than `from`, neither way.
    ///   - hasAlpha: false for four channels that know nothing of each other.
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

    /// The next line from above; those below the last one are left out.
    func append(_ line: UnsafePointer<UInt8>) {
        guard lineCount < from.height else { return }
        defer { lineCount += 1 }
        guard let sums else {
            memcpy(output.bytes + lineCount * from.width * 4, line, from.width * 4)
            return
        }
        // A line of the original is `to.height` high, one of the output `from.height`.
        let top = lineCount * to.height
        let row = top / from.height
        let bottom = (row + 1) * from.height
        let inside = min(top + to.height, bottom) - top
        add(line, times: Float(inside) / Float(from.height), to: sums)
        guard top + to.height >= bottom else { return }
        finish(row, sums)
        if inside < to.height { add(line, times: Float(to.height - inside) / Float(from.height), to: sums) }
    }

    // Loops over plain numbers, which the compiler makes four or eight of at a time: it does not for vectors of bytes.

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

    /// Writes a line of the output, and begins the next one.
    private func finish(_ row: Int, _ sums: UnsafeMutablePointer<Float>) {
        let target = output.bytes + row * to.width * 4
        let pixels = UnsafeMutableRawPointer(sums).assumingMemoryBound(to: SIMD4<Float>.self)
        let (fromWidth, toWidth, hasAlpha) = (from.width, to.width, hasAlpha)
        // Alpha has counted for 255 times as much as it is.
        let whole = 1 / (Float(fromWidth) * (hasAlpha ? 255 : 1))
        // A pixel of the original is `to.width` wide, one of the output `from.width`.
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
