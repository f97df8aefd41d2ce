import ChatCore
public import JSONReading

/// Changes valid documents step by step into what a hostile sender might send.
public struct JSONDamage {
    private static let maxChanges = 6
    /// The limit for values plus bytes of text: size limits would reject larger documents.
    private static let maxSize = 200_000

    /// Text that has a meaning elsewhere in such documents: IDs, keys, names of members.
    let strings: [String]

    public init(_ strings: [String]) { self.strings = Self.hostile + strings }

    private static let hostile = [
        "", "\u{0}", "e\u{301}", "\u{E9}", "@a:b", "@e\u{301}:b", "m.megolm.v1.aes-sha2",
        "m.olm.v1.curve25519-aes-sha2", "-1", "9223372036854775807", "ed25519:", "curve25519:", "=", "====",
        // Keys of small order, the first of them zero.
        String(repeating: "A", count: 43), "AQ" + String(repeating: "A", count: 41),
        "7P///////////////////////////////////////38", "4Ot6fDtBuK4WVuP68Z/EatoJjeucMrH9hmIFFl9JuAA",
        String(repeating: "A", count: 86), String(repeating: "x", count: 256), String(repeating: "A", count: 4_000),
        String(repeating: "\u{1F600}", count: 200),
    ]
    private static let scalars: [JSONValue] = [
        .null, true, false, 0, 1, -1, 255, 256, .integer(.max), .integer(.min), .integer(1 << 53), .number(0.5),
        .number(-1e19), .number(1e308), .number(.infinity), [], [:], [.null], [[:]], ["": ""],
    ]

    /// The document with as many changes as the input requests, possibly none.
    public func applied(to value: JSONValue, by input: inout FuzzInput) -> JSONValue {
        var value = value
        for _ in 0..<input.number(below: Self.maxChanges) where !input.isEmpty {
            let next = changed(value, by: &input)
            var budget = Self.maxSize
            guard next.fits(&budget) else { return value }
            value = next
        }
        return value
    }

    private func changed(_ value: JSONValue, by input: inout FuzzInput) -> JSONValue {
        let descends = input.byte() % 8 < 5
        switch value {
        case .object(var members) where !members.isEmpty && descends:
            let name = input.choice(of: members.keys.sorted())
            members[name] = changed(members[name] ?? .null, by: &input)
            return .object(members)
        case .array(var values) where !values.isEmpty && descends:
            let index = input.number(below: values.count)
            values[index] = changed(values[index], by: &input)
            return .array(values)
        case .object(let members) where input.flag(): return .object(changed(members, by: &input))
        case .array(let values) where input.flag(): return changed(values, by: &input)
        case .string(let text) where input.flag(): return .string(changed(text, by: &input))
        case .integer(let number) where input.flag():
            return .integer(number &+ Int64(Int8(bitPattern: input.byte())))
        default: return replaced(value, by: &input)
        }
    }

    private func replaced(_ value: JSONValue, by input: inout FuzzInput) -> JSONValue {
        switch input.number(below: 4) {
        case 0: return input.choice(of: Self.scalars)
        case 1: return .string(input.choice(of: strings))
        case 2: return .string(String(decoding: input.bytes(input.number(below: 16)), as: UTF8.self))
        default:
            var value = value
            for _ in 0..<input.number(below: 130) { value = [value] }
            return value
        }
    }

    private func changed(_ members: [String: JSONValue], by input: inout FuzzInput) -> [String: JSONValue] {
        var members = members
        switch input.number(below: 4) {
        case 0:
            if !members.isEmpty { members[input.choice(of: members.keys.sorted())] = nil }
        case 1:
            let names = members.keys.sorted()
            if let name = names.isEmpty ? nil : input.choice(of: names) {
                members[input.choice(of: strings)] = members.removeValue(forKey: name)
            }
        case 2: members[input.choice(of: strings)] = input.choice(of: Self.scalars + Array(members.values.prefix(1)))
        default:
            let value = members.min { $0.key < $1.key }?.value ?? .null
            for number in 0..<input.count() { members["\(number)"] = value }
        }
        return members
    }

    private func changed(_ values: [JSONValue], by input: inout FuzzInput) -> JSONValue {
        var values = values
        switch input.number(below: 3) {
        case 0: if !values.isEmpty { values.remove(at: input.number(below: values.count)) }
        case 1: values.append(input.choice(of: Self.scalars))
        default:
            let value = values.first ?? .null
            values += Array(repeating: value, count: input.count())
        }
        return .array(values)
    }

    private func changed(_ text: String, by input: inout FuzzInput) -> String {
        var bytes = Array(text.utf8)
        switch input.number(below: 4) {
        case 0:
            if !bytes.isEmpty { bytes[input.number(below: bytes.count)] = input.byte() }
        case 1: bytes = Array(bytes.prefix(input.number(below: bytes.count + 1)))
        case 2: bytes += Array(input.choice(of: strings).utf8)
        default: bytes.insert(input.byte(), at: input.number(below: bytes.count + 1))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JSONValue {
    fileprivate func fits(_ budget: inout Int) -> Bool {
        budget -= 1
        switch self {
        case .null, .bool, .integer, .number: break
        case .string(let text): budget -= text.utf8.count
        case .array(let values): for value in values where !value.fits(&budget) { return false }
        case .object(let members):
            for (name, value) in members {
                budget -= name.utf8.count
                guard value.fits(&budget) else { return false }
            }
        }
        return budget > 0
    }
}
