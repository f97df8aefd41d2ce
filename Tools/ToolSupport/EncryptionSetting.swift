import Foundation

/// Whether the program was built with the encryption library, that is, without ENCRYPTION=0. If the library is merely
/// missing, this is true and its tests fail.
package enum EncryptionSetting {
    package static let isOn = ProcessInfo.processInfo.environment["ENCRYPTION"] != "0"
}
