/// An input of the fuzzer as a row of decisions; behind its end all of them are zero.
public struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    public init(_ bytes: [UInt8]) { rest = bytes[...] }

    public var isEmpty: Bool { rest.isEmpty }

    public mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    public mutating func flag() -> Bool { byte() & 1 == 1 }

    public mutating func number(below count: Int) -> Int {
        guard count > 1 else { return 0 }
        return (count <= 256 ? Int(byte()) : Int(byte()) << 8 | Int(byte())) % count
    }

    /// Mostly few, now and then as many as are too many somewhere: what is large takes long, and finds little more.
    public mutating func count() -> Int {
        let byte = Int(byte())
        return byte < 252 ? byte % 8 : (byte - 251) * 76
    }

    public mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    public mutating func choice<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

    /// Takes all that is left.
    public mutating func takeRest() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}
