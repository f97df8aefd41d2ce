/// A machine-readable summary of a run, as one line of JSON.
package struct SoakReport {
    private let name: String
    private let value: Int
    private let unit: String
    private let target: Int

    package init(name: String, value: Int, unit: String, target: Int) {
        self.name = name
        self.value = value
        self.unit = unit
        self.target = target
    }

    private var line: String {
        """
        {"name":"\(name)","value":\(value),"unit":"\(unit)","target":"\(target)","holds":\(value == target)}
        """
    }

    package func print() {
        Swift.print(line)
    }
}
