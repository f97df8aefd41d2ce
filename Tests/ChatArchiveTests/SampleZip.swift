import Foundation

/// Creates uncompressed ZIP archives, with the files in the given order.
enum SampleZip {
    static func data(of files: [(path: String, content: Data)]) -> Data {
        var (data, directory) = (Data(), Data())
        for (path, content) in files {
            let name = Data(path.utf8)
            // Version, flags (names are UTF-8), no compression, time and date, checksum, sizes.
            let fields =
                littleEndian(20, 2) + littleEndian(0x800, 2) + littleEndian(0, 2) + littleEndian(0, 2)
                + littleEndian(0x21, 2)
                + littleEndian(checksum(content), 4) + littleEndian(content.count, 4) + littleEndian(content.count, 4)
                + littleEndian(name.count, 2) + littleEndian(0, 2)
            let mode = 0o100644 << 16
            directory += littleEndian(0x0201_4B50, 4) + littleEndian(3 << 8 | 20, 2) + fields
            directory +=
                littleEndian(0, 2) + littleEndian(0, 2) + littleEndian(0, 2) + littleEndian(mode, 4)
                + littleEndian(data.count, 4) + name
            data += littleEndian(0x0403_4B50, 4) + fields + name + content
        }
        let end =
            littleEndian(0x0605_4B50, 4) + littleEndian(0, 2) + littleEndian(0, 2) + littleEndian(files.count, 2)
            + littleEndian(files.count, 2)
            + littleEndian(directory.count, 4) + littleEndian(data.count, 4) + littleEndian(0, 2)
        return data + directory + end
    }

    private static func littleEndian(_ value: Int, _ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }

    /// CRC-32.
    private static func checksum(_ data: Data) -> Int {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in data {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return Int(~sum)
    }
}
