import Glibc
import MediaDecoding

/// The canvas on which a GIF's frames are composed, clipped to its edges.
final class GIFCanvas {
    struct Area {
        var left: Int
        var top: Int
        var width: Int
        var height: Int
    }

    /// How a frame is disposed of before the next one.
    enum Disposal {
        case all
        /// Its area is cleared to transparent.
        case nothing
        /// Its area is restored to its former content.
        case before
    }

    let pixels: PixelMemory
    private let width: Int
    private let height: Int
    /// The area that the current frame's disposal changes.
    private var end: (area: Area, before: PixelMemory?)?

    init(width: Int, height: Int) throws(ImageFailure) {
        self.width = width
        self.height = height
        pixels = try PixelMemory(width * height)
    }

    /// Disposes of the current frame and begins the next one.
    func startFrame(_ area: Area, thenKeeping disposal: Disposal) throws(ImageFailure) {
        if let end {
            copy(end.area) { row, target, count in
                if let before = end.before {
                    memcpy(target, before.whole + row * count, count * 4)
                } else {
                    memset(target, 0, count * 4)
                }
            }
        }
        let area = inside(area)
        end =
            switch disposal {
            case .all: nil
            case .nothing: (area, nil)
            case .before: (area, try savedPixels(area))
            }
    }

    /// - Parameters:
    ///   - line: A color index per pixel.
    ///   - colors: 256 colors; a color of 0 is transparent and leaves the canvas unchanged.
    func draw(_ line: [UInt8], row: Int, of area: Area, _ colors: [UInt32]) {
        let y = area.top + row
        guard y >= 0, y < height, area.left >= 0, area.left < width else { return }
        let target = pixels.whole + y * width + area.left
        line.withUnsafeBufferPointer { line in
            colors.withUnsafeBufferPointer { colors in
                for column in 0..<min(line.count, width - area.left) {
                    let color = colors[Int(line[column])]
                    if color != 0 { target[column] = color }
                }
            }
        }
    }

    private func savedPixels(_ area: Area) throws(ImageFailure) -> PixelMemory {
        let memory = try PixelMemory(area.width * area.height)
        copy(area) { row, from, count in memcpy(memory.whole + row * count, from, count * 4) }
        return memory
    }

    private func copy(_ area: Area, _ body: (Int, UnsafeMutablePointer<UInt32>, Int) -> Void) {
        guard area.width > 0 else { return }
        for row in 0..<area.height { body(row, pixels.whole + (area.top + row) * width + area.left, area.width) }
    }

    private func inside(_ area: Area) -> Area {
        let (left, top) = (min(max(0, area.left), width), min(max(0, area.top), height))
        return Area(
            left: left, top: top, width: min(max(0, area.width), width - left),
            height: min(max(0, area.height), height - top))
    }
}
