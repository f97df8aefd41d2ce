import ChatCore
import Foundation
import JSONReading

/// Messages of a verification as they are sent: into its room, or to devices.
struct VerificationMessages {
    private(set) var toRoom: [VerificationRoomMessage] = []
    private(set) var toDevices: [DeviceMessage] = []

    /// - Parameter messages: Those that cannot name the verification yet are omitted.
    init(_ messages: [VerificationFlow.Message], of flow: VerificationFlow) throws {
        for message in messages {
            guard let content = flow.named(message.content) else { continue }
            switch flow.channel {
            case .room(let room):
                // The other side may have begun later: without a cancellation, it would wait.
                let isLast = message.type == VerificationFlow.cancellation
                toRoom.append(
                    VerificationRoomMessage(
                        verification: flow.id, user: flow.user, room: room, type: message.type,
                        content: content.object ?? [:],
                        end: isLast ? flow.end.addingTimeInterval(VerificationFlow.lifetime) : flow.end))
            case .devices:
                for device in message.devices ?? [flow.device].compactMap(\.self) {
                    toDevices.append(try DeviceMessage(message.type, content, to: device, of: flow.user))
                }
            }
        }
    }
}

extension DeviceMessage {
    /// A message with a transaction ID of its own.
    init(_ type: String, _ content: JSONValue, to device: ExactText, of user: ExactText) throws {
        self.init(
            type: type, transaction: try DeviceWriter.transaction(), user: user.text, device: device.text,
            content: Data(try CanonicalJSON.bytes(of: content)))
    }
}
