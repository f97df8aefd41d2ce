import Foundation

/// Whether this run is of a program that was built without the encryption library, by ENCRYPTION=0. A library that is
/// merely missing is not that: its tests fail.
package enum EncryptionSetting {
    package static let isOn = ProcessInfo.processInfo.environment["ENCRYPTION"] != "0"
}
