/// A fuzzer input as a sequence of decisions; beyond its end all of them are zero.
public struct FuzzInput {
    private var rest: ArraySlice<UInt8>
    /// The number of documents, events and actions made from the input so far.
    var steps = 0

    public init(_ bytes: [UInt8]) { rest = bytes[...] }

    public var isEmpty: Bool { rest.isEmpty }

    public mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    public mutating func flag() -> Bool { byte() & 1 == 1 }

    public mutating func number(below count: Int) -> Int {
        guard count > 1 else { return 0 }
        return (count <= 256 ? Int(byte()) : Int(byte()) << 8 | Int(byte())) % count
    }

    /// A count that is mostly small, and occasionally beyond some limit: large inputs take long and find little more.
    public mutating func count() -> Int {
        let byte = Int(byte())
        return byte < 252 ? byte % 8 : (byte - 251) * 76
    }

    public mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    public mutating func choice<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

    /// Consumes the remaining bytes.
    public mutating func takeRest() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}
