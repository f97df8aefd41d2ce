/// The symbolic icons of files by what is in them, at the weight of the other icons.
public enum FileIcon {
    public static func name(ofType type: String) -> String {
        switch type.prefix(while: { $0 != "/" }) {
        case "image": "parlance-image-symbolic"
        case "video": "parlance-video-symbolic"
        case "audio": "parlance-audio-symbolic"
        default: "parlance-file-symbolic"
        }
    }
}
