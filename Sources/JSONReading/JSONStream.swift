public import ChatCore
public import FoundationEssentials

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
/// Bytes that are no UTF-8 become U+FFFD. Nesting and the length of one value are bounded.
public final class JSONStream {
    /// Objects and arrays within each other.
    public static let maxDepth = 512
    /// Bytes of one value that is told whole.
    public static let maxBytes = 32 << 20

    private unowned let receiver: any JSONReceiver
    private let emptiesTooDeep: Bool
    private var tokenizer = JSONTokenizer()
    private var path: [JSONStep] = []
    /// The containers that were entered: nil for an object, how many values it has had for an array.
    private var counts: [Int?] = []
    /// Of the value that is to be told whole.
    private var builder: JSONBuilder?
    /// Bytes since the last token that was kept or told.
    private var silence = 0
    private var failure: ArchiveError?

    /// - Parameter emptiesTooDeep: null stands for an object or array that lies too deep in a value that is told whole,
    ///   which is an error otherwise.
    public init(receiver: any JSONReceiver, emptiesTooDeep: Bool = false) {
        self.receiver = receiver
        self.emptiesTooDeep = emptiesTooDeep
    }

    /// - Throws: ``ArchiveError``, and the same again whatever comes after it.
    public func feed(_ bytes: Data) throws(ArchiveError) {
        if let failure { throw failure }
        do {
            try read(bytes.bytes)
        } catch {
            failure = error
            throw error
        }
    }

    /// - Throws: ``ArchiveError/truncated`` if the document is not complete.
    public func finish() throws(ArchiveError) {
        if let failure { throw failure }
        if let token = try tokenizer.finish() { try handle(token) }
    }

    private func read(_ bytes: RawSpan) throws(ArchiveError) {
        // Here, and not in the object, where each look at them is checked for others.
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
            } else if offset - lastDelivery > Self.maxBytes {
                throw .tooLong(limit: Self.maxBytes)
            }
        }
        silence = offset - lastDelivery
        if silence > Self.maxBytes { throw .tooLong(limit: Self.maxBytes) }
        swap(&tokenizer, &self.tokenizer)
        swap(&builder, &self.builder)
    }

    /// - Returns: what puts the value together if the token is the first of one that is to be told whole.
    @discardableResult
    private func handle(_ token: JSONToken) throws(ArchiveError) -> JSONBuilder? {
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
                var builder = JSONBuilder(maxDepth: Self.maxDepth - counts.count, emptiesTooDeep: emptiesTooDeep)
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
