public import FoundationEssentials

/// A step of a path from a document's root: a key or an index.
public enum JSONStep: Equatable, Sendable {
    case key(String)
    case index(Int)
}

/// Receives the values of a streamed document.
public protocol JSONReceiver: AnyObject {
    /// Whether the members of a container that begins are delivered individually. Otherwise ``receive(_:at:)`` gets it
    /// as a whole.
    func entersContainer(at path: [JSONStep]) -> Bool
    func receive(_ value: JSONValue, at path: [JSONStep])
    /// Called at the end of an entered container.
    func leaveContainer(at path: [JSONStep])
}

/// An incremental JSON parser for documents of any length: only one value at a time is held in memory.
///
/// Invalid UTF-8 becomes U+FFFD. Nesting depth and the size of a value are limited.
public final class JSONStream {
    /// The maximum nesting depth of containers.
    public static let maxDepth = 512
    /// The maximum size in bytes of a value that is delivered as a whole.
    public static let maxBytes = 32 << 20

    private unowned let receiver: any JSONReceiver
    private let emptiesTooDeep: Bool
    private let maxBytes: Int
    private var tokenizer = JSONTokenizer()
    private var path: [JSONStep] = []
    /// The entered containers: `nil` for an object, the number of values for an array.
    private var counts: [Int?] = []
    /// Builds the value that is delivered as a whole.
    private var builder: JSONBuilder?
    /// Bytes since the last token that was delivered or added to a value.
    private var silence = 0
    private var failure: JSONError?

    /// Creates a parser.
    /// - Parameters:
    ///   - emptiesTooDeep: Whether containers beyond the maximum depth in a value are replaced by null instead of
    ///     throwing an error.
    ///   - maxBytes: The maximum size of a value that is delivered as a whole.
    public init(receiver: any JSONReceiver, emptiesTooDeep: Bool = false, maxBytes: Int = JSONStream.maxBytes) {
        self.receiver = receiver
        self.maxBytes = maxBytes
        self.emptiesTooDeep = emptiesTooDeep
    }

    /// Parses further bytes.
    /// - Throws: ``JSONError``, and the same error on every later call.
    public func feed(_ bytes: Data) throws(JSONError) {
        if let failure { throw failure }
        do {
            try read(bytes.bytes)
        } catch {
            failure = error
            throw error
        }
    }

    /// Ends the document.
    /// - Throws: ``JSONError/truncated`` if the document is incomplete.
    public func finish() throws(JSONError) {
        if let failure { throw failure }
        if let token = try tokenizer.finish() { try handle(token) }
    }

    private func read(_ bytes: RawSpan) throws(JSONError) {
        // Local copies avoid the exclusivity check on each access to the properties.
        var tokenizer = JSONTokenizer()
        var builder: JSONBuilder?
        swap(&tokenizer, &self.tokenizer)
        swap(&builder, &self.builder)
        var (offset, lastDelivery) = (0, -silence)
        while let token = try tokenizer.next(in: bytes, from: &offset) {
            if builder != nil {
                if let whole = try builder?.add(token) {
                    builder = nil
                    receiver.receive(whole, at: path)
                    endValue()
                }
            } else {
                builder = try handle(token)
            }
            if builder?.isLeavingOut != true {
                lastDelivery = offset
            } else if offset - lastDelivery > maxBytes {
                throw .tooLong(limit: maxBytes)
            }
        }
        silence = offset - lastDelivery
        if silence > maxBytes { throw .tooLong(limit: maxBytes) }
        swap(&tokenizer, &self.tokenizer)
        swap(&builder, &self.builder)
    }

    /// - Returns: A builder if the token begins a container that is delivered as a whole.
    @discardableResult
    private func handle(_ token: JSONToken) throws(JSONError) -> JSONBuilder? {
        switch token {
        case .scalar(let value):
            beginValue()
            receiver.receive(value, at: path)
            endValue()
        case .key(let key): path.append(.key(key))
        case .beginObject, .beginArray:
            guard counts.count < Self.maxDepth else { throw .tooDeep }
            beginValue()
            guard receiver.entersContainer(at: path) else {
                var builder = JSONBuilder(
                    maxDepth: Self.maxDepth - counts.count, maxBytes: maxBytes, emptiesTooDeep: emptiesTooDeep)
                _ = try builder.add(token)
                return builder
            }
            if case .beginArray = token { counts.append(0) } else { counts.append(nil) }
        case .end:
            counts.removeLast()
            receiver.leaveContainer(at: path)
            endValue()
        }
        return nil
    }

    private func beginValue() {
        guard let last = counts.indices.last, let count = counts[last] else { return }
        path.append(.index(count))
        counts[last] = count + 1
    }

    private func endValue() {
        if !counts.isEmpty { path.removeLast() }
    }
}
