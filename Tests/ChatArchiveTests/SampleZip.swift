import Foundation

/// Creates uncompressed ZIP archives, with the files in the given order.
enum SampleZip {
    static func data(of files: [(path: String, content: Data)]) -> Data {
        var (data, directory) = (Data(), Data())
        for (path, content) in files {
            let name = Data(path.utf8)
            // Version, flags (names are UTF-8), no compression, time and date, checksum, sizes.
            let fields =
                little(20, 2) + little(0x800, 2) + little(0, 2) + little(0, 2) + little(0x21, 2)
                + little(checksum(content), 4) + little(content.count, 4) + little(content.count, 4)
                + little(name.count, 2) + little(0, 2)
            let mode = 0o100644 << 16
            directory += little(0x0201_4B50, 4) + little(3 << 8 | 20, 2) + fields
            directory += little(0, 2) + little(0, 2) + little(0, 2) + little(mode, 4) + little(data.count, 4) + name
            data += little(0x0403_4B50, 4) + fields + name + content
        }
        let end =
            little(0x0605_4B50, 4) + little(0, 2) + little(0, 2) + little(files.count, 2) + little(files.count, 2)
            + little(directory.count, 4) + little(data.count, 4) + little(0, 2)
        return data + directory + end
    }

    private static func little(_ value: Int, _ count: Int) -> Data {
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
