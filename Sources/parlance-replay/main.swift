import ComposerReplay
import Foundation

// Processes each line as it arrives and responds at once, so that another program can talk to the driver.
signal(SIGPIPE, SIG_IGN)
let driver = ReplayDriver()
var pending = Data()
var isOpen = true

/// Writes a complete line, or exits if the reader is gone.
func write(_ line: String) {
    do {
        try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    } catch {
        exit(1)
    }
}

while isOpen {
    let data = FileHandle.standardInput.availableData
    isOpen = !data.isEmpty
    var start = data.startIndex
    while let end = data[start...].firstIndex(of: UInt8(ascii: "\n")) {
        pending.append(data[start..<end])
        write(driver.response(to: pending))
        pending = Data()
        start = data.index(after: end)
    }
    pending.append(data[start...])
}
if !pending.isEmpty { write(driver.response(to: pending)) }
exit(driver.hasFailed ? 1 : 0)
