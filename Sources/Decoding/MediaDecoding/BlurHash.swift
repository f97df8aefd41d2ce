import Glibc

/// A placeholder that is displayed until an image is loaded: a few cosine components of its colors, encoded as a short
/// string.
///
/// Implements the algorithm published at blurha.sh. In Matrix, a file's `info` contains it (MSC2448).
public struct BlurHash: Hashable, Sendable {
    /// The encoded form: six base-83 digits, and two for each component after the first.
    public let text: String
    /// The number of components in each direction, 1 to 9.
    private let size: (across: Int, down: Int)
    /// Linear RGB of each component, row by row.
    private let components: [SIMD3<Float>]

    /// Decodes a BlurHash.
    /// - Returns: `nil` if the text is not valid.
    public init?(_ text: String) {
        guard (6...166).contains(text.utf8.count), let digits = Base83.digits(of: text), digits[0] < 81 else {
            return nil
        }
        size = (digits[0] % 9 + 1, digits[0] / 9 + 1)
        guard digits.count == 4 + 2 * size.across * size.down else { return nil }
        let average = Base83.number(digits[2..<6])
        guard average <= 0xFFFFFF else { return nil }
        self.text = text
        let maxAmplitude = Float(digits[1] + 1) / 166
        var components = [
            SIMD3(SRGBTransfer.linear(average >> 16), SRGBTransfer.linear(average >> 8), SRGBTransfer.linear(average))
        ]
        for offset in stride(from: 6, to: digits.count, by: 2) {
            let number = Base83.number(digits[offset..<offset + 2])
            guard number < Self.steps * Self.steps * Self.steps else { return nil }
            components.append(
                SIMD3(
                    Self.share(number / (Self.steps * Self.steps)), Self.share(number / Self.steps % Self.steps),
                    Self.share(number % Self.steps)) * maxAmplitude)
        }
        self.components = components
    }

    /// Encodes an image.
    /// - Parameters:
    ///   - pixels: `width` × `height` RGBA pixels, row by row, blended over white. A thumbnail suffices: the time is
    ///     proportional to their number.
    ///   - components: The number of components in each direction, 1 to 9.
    /// - Returns: `nil` if the size or number of components is invalid.
    public init?(of pixels: [UInt8], width: Int, height: Int, components: (across: Int, down: Int) = (4, 3)) {
        guard width > 0, height > 0, pixels.count == width * height * 4, (1...9).contains(components.across),
            (1...9).contains(components.down)
        else { return nil }
        let linearPixels = stride(from: 0, to: pixels.count, by: 4).map { SRGBTransfer.overWhite(pixels[$0..<$0 + 4]) }
        let (across, down) = (Self.cosines(components.across, width), Self.cosines(components.down, height))
        var found: [SIMD3<Float>] = []
        for v in 0..<components.down {
            for u in 0..<components.across {
                var sum = SIMD3<Float>.zero
                for y in 0..<height {
                    var line = SIMD3<Float>.zero
                    for x in 0..<width { line += linearPixels[y * width + x] * across[u * width + x] }
                    sum += line * down[v * height + y]
                }
                found.append(sum * ((u == 0 && v == 0 ? 1 : 2) / Float(width * height)))
            }
        }
        self.init(Self.text(of: found, components))
    }

    /// Renders the placeholder as opaque RGBA, row by row.
    /// - Parameter width: Clamped to 1 to 128 pixels, like the height: the result is smooth and can be scaled up.
    public func pixels(width: Int, height: Int) -> [UInt8] {
        let (width, height) = (min(max(width, 1), 128), min(max(height, 1), 128))
        let (across, down) = (Self.cosines(size.across, width), Self.cosines(size.down, height))
        var pixels: [UInt8] = []
        pixels.reserveCapacity(width * height * 4)
        for y in 0..<height {
            let line = (0..<size.across).map { u in
                (0..<size.down).reduce(into: SIMD3<Float>.zero) { sum, v in
                    sum += components[v * size.across + u] * down[v * height + y]
                }
            }
            for x in 0..<width {
                var linearColor = SIMD3<Float>.zero
                for u in 0..<size.across { linearColor += line[u] * across[u * width + x] }
                pixels += [
                    SRGBTransfer.byte(linearColor.x), SRGBTransfer.byte(linearColor.y),
                    SRGBTransfer.byte(linearColor.z), 255,
                ]
            }
        }
        return pixels
    }

    public static func == (one: BlurHash, other: BlurHash) -> Bool { one.text == other.text }
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }

    // MARK: Quantization

    /// The number of quantization steps of a component's amplitude per color; the middle one is zero.
    private static let steps = 19

    /// Returns the amplitude from -1 to 1, quantized more finely near zero.
    private static func share(_ step: Int) -> Float {
        let normalized = Float(step - 9) / 9
        return normalized < 0 ? -normalized * normalized : normalized * normalized
    }

    private static func step(_ share: Float) -> Int {
        let root = share < 0 ? -(-share).squareRoot() : share.squareRoot()
        return min(max(Int((root * 9 + 9.5).rounded(.down)), 0), steps - 1)
    }

    private static func text(of components: [SIMD3<Float>], _ size: (across: Int, down: Int)) -> String {
        let rest = components.dropFirst()
        let maxAmplitude = rest.reduce(Float(0)) { max($0, abs($1.x), abs($1.y), abs($1.z)) }
        let strength = rest.isEmpty ? 0 : min(max(Int((maxAmplitude * 166 - 0.5).rounded(.down)), 0), 82)
        let scale = rest.isEmpty ? 1 : Float(strength + 1) / 166
        let average = [components[0].x, components[0].y, components[0].z].reduce(0) {
            $0 << 8 | Int(SRGBTransfer.byte($1))
        }
        var text = Base83.text(size.across - 1 + (size.down - 1) * 9, length: 1)
        text += Base83.text(strength, length: 1) + Base83.text(average, length: 4)
        for wave in rest {
            let scaled = wave / scale
            let number = [scaled.x, scaled.y, scaled.z].reduce(0) { $0 * steps + step($1) }
            text += Base83.text(number, length: 2)
        }
        return text
    }

    /// Returns the cosine of each component at each pixel.
    private static func cosines(_ count: Int, _ pixels: Int) -> [Float] {
        (0..<count).flatMap { wave in
            (0..<pixels).map { Float(cos(Double.pi * Double($0 * wave) / Double(pixels))) }
        }
    }
}

/// Base-83 encoding.
private enum Base83 {
    private static let characters = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)
    private static let values: [Int] = {
        var values = [Int](repeating: -1, count: 256)
        for (value, character) in characters.enumerated() { values[Int(character)] = value }
        return values
    }()

    static func digits(of text: String) -> [Int]? {
        let digits = text.utf8.map { values[Int($0)] }
        return digits.contains(-1) ? nil : digits
    }

    static func number(_ digits: ArraySlice<Int>) -> Int { digits.reduce(0) { $0 * 83 + $1 } }

    static func text(_ number: Int, length: Int) -> String {
        var (rest, bytes): (Int, [UInt8]) = (number, [])
        for _ in 0..<length {
            bytes.append(characters[rest % 83])
            rest /= 83
        }
        return String(decoding: bytes.reversed(), as: UTF8.self)
    }
}

/// Converts between sRGB bytes and linear light.
private enum SRGBTransfer {
    private static let ofByte: [Float] = (0..<256).map { byte in
        let encoded = Double(byte) / 255
        return Float(encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4))
    }

    /// Converts the lowest eight bits.
    static func linear(_ number: Int) -> Float { ofByte[number & 0xFF] }

    static func overWhite(_ pixel: ArraySlice<UInt8>) -> SIMD3<Float> {
        let (start, alpha) = (pixel.startIndex, Float(pixel[pixel.startIndex + 3]) / 255)
        let linearColor = SIMD3(ofByte[Int(pixel[start])], ofByte[Int(pixel[start + 1])], ofByte[Int(pixel[start + 2])])
        return linearColor * alpha + SIMD3(repeating: 1 - alpha)
    }

    static func byte(_ linearValue: Float) -> UInt8 {
        let clampedValue = Double(min(max(linearValue, 0), 1))
        let encoded = clampedValue <= 0.0031308 ? clampedValue * 12.92 : 1.055 * pow(clampedValue, 1 / 2.4) - 0.055
        return UInt8(encoded * 255 + 0.5)
    }
}
