/// One line of JSON on what was reached, for programs.
struct SoakReport {
    let name: String
    let value: Int
    let unit: String
    let target: Int

    var line: String {
        """
        {"name":"\(name)","value":\(value),"unit":"\(unit)","target":"\(target)","holds":\(value == target)}
        """
    }

    func print() {
        Swift.print(line)
    }
}
