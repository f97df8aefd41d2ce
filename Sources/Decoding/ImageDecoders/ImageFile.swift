import CHeif
import CTiff
public import ConfinedDecoding
public import MediaDecoding

/// An image file in memory, of any supported format.
public struct ImageFile {
    private let bytes: UnsafeRawBufferPointer
    private let kind: Kind

    private enum Kind {
        case png, jpeg, gif, webp, bmp
        case tiff(shim_tiff_library)
        case heif(shim_heif_library)
    }

    /// Detects the format and loads the library for it. Call it before confinement, which forbids opening files.
    ///
    /// - Parameter bytes: The file; must outlive this value.
    /// - Throws: ``ImageFailure/unknownFormat``, also if the library is not installed.
    public init(_ bytes: UnsafeRawBufferPointer) throws(ImageFailure) {
        self.bytes = bytes
        switch ImageFormat(beginning: bytes.prefix(16)) {
        case .png: kind = .png
        case .jpeg: kind = .jpeg
        case .gif: kind = .gif
        case .webp: kind = .webp
        case .bmp: kind = .bmp
        case .tiff:
            var library = shim_tiff_library()
            guard shim_tiff_load(&library) == 0 else { throw .unknownFormat }
            kind = .tiff(library)
        case .heif:
            var library = shim_heif_library()
            guard shim_heif_load(&library) == 0 else { throw .unknownFormat }
            kind = .heif(library)
        case nil: throw .unknownFormat
        }
    }

    /// Reports the image's size and, unless the mode is `size`, shows one frame, or plays the animation until it ends.
    public func decode(_ request: DecodingRequest, to sink: any ImageSink) throws(ImageFailure) {
        switch kind {
        case .png: try PNGImage(bytes).decode(request, to: sink)
        case .jpeg: try JPEGImage(bytes).decode(request, to: sink)
        case .gif: try GIFImage(bytes, request).decode(to: sink)
        case .webp: try WebPImage(bytes).decode(request, to: sink)
        case .bmp: try BMPImage(bytes).decode(request, to: sink)
        case .tiff(let library): try TIFFImage(library, bytes).decode(request, to: sink)
        case .heif(let library): try HEIFImage(library, bytes).decode(request, to: sink)
        }
    }
}

extension DecodingRequest {
    /// Rejects invalid or excessive sizes before memory is allocated.
    func check(width: Int, height: Int) throws(ImageFailure) {
        guard width > 0, height > 0 else { throw .broken }
        guard width <= 1 << 20, height <= 1 << 20, width * height <= maxPixels else { throw .tooLarge }
    }
}
