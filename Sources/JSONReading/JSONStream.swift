import CYajl
import ChatCore
public import Foundation

/// Where a value stands in a document: keys and indices from its root.
public enum JSONStep: Equatable, Sendable {
    case key(String)
    case index(Int)
}

/// What a stream tells of a document.
public protocol JSONReceiver: AnyObject {
    /// An object or array begins: whether its members are to be told one by one. If not, it is told whole.
    func entersContainer(at path: [JSONStep]) -> Bool
    func receive(_ value: JSONValue, at path: [JSONStep])
    /// One that was entered ends.
    func leaveContainer(at path: [JSONStep])
}

/// Reads JSON as it comes, of any length: what is kept is one value that was asked for whole.
///
/// YAJL divides the text; bytes that are no UTF-8 become U+FFFD. Nesting and the length of one value are bounded.
public final class JSONStream {
    /// Objects and arrays within each other.
    public static let deepest = 512
    /// Bytes of one value that is told whole.
    public static let longest = 32 << 20

    private unowned let receiver: any JSONReceiver
    private var handle: yajl_handle?
    private var path: [JSONStep] = []
    /// The containers that were entered: nil for an object, how many values it has had for an array.
    private var counts: [Int?] = []
    private var builder: JSONBuilder?
    private var failure: ArchiveError?
    /// Bytes since the last thing that was told.
    private var silence = 0
    private var isComplete = false
    private var hasBegun = false
    private let kept: UnsafeMutablePointer<yajl_callbacks>
    private let emptiesTooDeep: Bool
    /// Containers within each other that are left out.
    private var tooDeep = 0

    /// - Parameter emptiesTooDeep: null stands for an object or array that lies too deep in a value that is told whole,
    ///   which is an error otherwise.
    public init(receiver: any JSONReceiver, emptiesTooDeep: Bool = false) {
        self.receiver = receiver
        self.emptiesTooDeep = emptiesTooDeep
        // YAJL keeps the address.
        kept = UnsafeMutablePointer<yajl_callbacks>.allocate(capacity: 1)
        kept.initialize(to: Self.callbacks)
        handle = yajl_alloc(kept, nil, Unmanaged.passUnretained(self).toOpaque())
        if let handle { shim_yajl_take_any_text(handle) }
    }

    deinit {
        if let handle { yajl_free(handle) }
        kept.deallocate()
    }

    /// - Throws: ``ArchiveError``.
    public func feed(_ bytes: Data) throws {
        guard let handle, !bytes.isEmpty else { return }
        // Marks of the order of bytes are no JSON.
        let bytes = !hasBegun && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
        hasBegun = true
        silence += bytes.count
        let status = bytes.withUnsafeBytes { buffer in
            yajl_parse(handle, buffer.bindMemory(to: UInt8.self).baseAddress, buffer.count)
        }
        try check(status)
        if silence > Self.longest { throw ArchiveError.tooLong(limit: Self.longest) }
    }

    /// - Throws: ``ArchiveError/truncated`` if the document is not complete.
    public func finish() throws {
        guard isComplete else { throw ArchiveError.truncated }
    }

    private func check(_ status: yajl_status) throws {
        if let failure { throw failure }
        guard status != yajl_status_ok else { return }
        guard let handle, let text = yajl_get_error(handle, 0, nil, 0) else {
            throw ArchiveError.malformed(line: 0, reason: "not JSON")
        }
        defer { yajl_free_error(handle, text) }
        let reason = String(cString: text).trimmingCharacters(in: .whitespacesAndNewlines)
        if reason.contains("premature EOF") { throw ArchiveError.truncated }
        throw ArchiveError.malformed(line: 0, reason: reason)
    }

    // MARK: Events

    /// - Returns: whether to go on.
    fileprivate func scalar(_ value: @autoclosure () -> JSONValue) -> Bool {
        silence = 0
        if tooDeep > 0 { return true }
        if builder != nil {
            builder?.add(value())
            return isWithinBounds
        }
        beginValue()
        receiver.receive(value(), at: path)
        endValue()
        return true
    }

    fileprivate func key(_ key: String) -> Bool {
        silence = 0
        if tooDeep > 0 { return true }
        if builder != nil {
            builder?.key = key
            builder?.bytes += key.utf8.count + 16
            return isWithinBounds
        } else {
            path.append(.key(key))
        }
        return true
    }

    fileprivate func begin(isArray: Bool) -> Bool {
        silence = 0
        guard tooDeep == 0, counts.count + (builder?.depth ?? 0) < Self.deepest else {
            tooDeep += 1
            if emptiesTooDeep, builder != nil { return true }
            failure = .tooDeep
            return false
        }
        if builder != nil {
            builder?.begin(isArray: isArray)
            return isWithinBounds
        }
        beginValue()
        if receiver.entersContainer(at: path) {
            counts.append(isArray ? 0 : nil)
        } else {
            builder = JSONBuilder()
            builder?.begin(isArray: isArray)
        }
        return true
    }

    fileprivate func end() -> Bool {
        silence = 0
        if tooDeep > 0 {
            tooDeep -= 1
            if tooDeep == 0 { builder?.add(.null) }
            return isWithinBounds
        }
        if builder != nil {
            guard let whole = builder?.end() else { return true }
            builder = nil
            receiver.receive(whole, at: path)
        } else {
            counts.removeLast()
            receiver.leaveContainer(at: path)
        }
        endValue()
        return true
    }

    private var isWithinBounds: Bool {
        guard let bytes = builder?.bytes, bytes > Self.longest else { return true }
        failure = .tooLong(limit: Self.longest)
        return false
    }

    private func beginValue() {
        guard let last = counts.indices.last, let count = counts[last] else { return }
        path.append(.index(count))
        counts[last] = count + 1
    }

    private func endValue() {
        if counts.isEmpty { isComplete = true } else { path.removeLast() }
    }
}

/// Puts a value together.
private struct JSONBuilder {
    /// Changed where it lies: what is taken out of an enumeration is copied with all it has.
    private struct Frame {
        let isArray: Bool
        /// Under which it belongs into the object around it.
        let ownKey: String
        var values: [JSONValue] = []
        var members: [String: JSONValue] = [:]

        var value: JSONValue { isArray ? .array(values) : .object(members) }
    }

    private var frames: [Frame] = []
    var key = ""
    /// What the value takes, about.
    var bytes = 0

    var depth: Int { frames.count }

    mutating func begin(isArray: Bool) {
        bytes += 32
        frames.append(Frame(isArray: isArray, ownKey: key))
    }

    mutating func add(_ value: JSONValue) {
        if case .string(let text) = value { bytes += text.utf8.count }
        bytes += 16
        put(value)
    }

    private mutating func put(_ value: JSONValue) {
        guard let last = frames.indices.last else { return }
        if frames[last].isArray { frames[last].values.append(value) } else { frames[last].members[key] = value }
    }

    /// - Returns: the value if it is whole.
    mutating func end() -> JSONValue? {
        guard let last = frames.popLast() else { return nil }
        key = last.ownKey
        if frames.isEmpty { return last.value }
        put(last.value)
        return nil
    }
}

extension JSONStream {
    private static func of(_ context: UnsafeMutableRawPointer?) -> JSONStream? {
        context.map { Unmanaged<JSONStream>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func text(_ start: UnsafePointer<UInt8>?, _ count: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Whole numbers exactly, others as near as they can be.
    private static func number(_ text: String) -> JSONValue {
        Int64(text).map { .integer($0) } ?? .number(Double(text) ?? 0)
    }

    private static let callbacks = yajl_callbacks(
        yajl_null: { of($0)?.scalar(.null) == true ? 1 : 0 },
        yajl_boolean: { context, value in of(context)?.scalar(.bool(value != 0)) == true ? 1 : 0 },
        yajl_integer: nil, yajl_double: nil,
        yajl_number: { context, start, count in
            let start = UnsafeRawPointer(start)?.assumingMemoryBound(to: UInt8.self)
            return of(context)?.scalar(number(text(start, count))) == true ? 1 : 0
        },
        yajl_string: { context, start, count in of(context)?.scalar(.string(text(start, count))) == true ? 1 : 0 },
        yajl_start_map: { of($0)?.begin(isArray: false) == true ? 1 : 0 },
        yajl_map_key: { context, start, count in of(context)?.key(text(start, count)) == true ? 1 : 0 },
        yajl_end_map: { of($0)?.end() == true ? 1 : 0 },
        yajl_start_array: { of($0)?.begin(isArray: true) == true ? 1 : 0 },
        yajl_end_array: { of($0)?.end() == true ? 1 : 0 })
}
