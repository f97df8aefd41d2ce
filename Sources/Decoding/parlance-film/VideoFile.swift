import CFFmpeg
import ConfinedDecoding
import MediaDecoding

/// Demuxes and decodes the file, and sends the result.
final class VideoFile {
    private let file: UnsafeMutablePointer<AVFormatContext>
    private let frames: FrameOutput?
    private let audioOutput: AudioOutput?
    private let videoDecoder: VideoDecoder?
    private let audioDecoder: VideoDecoder?

    /// Opens the file; ends the process if it cannot be decoded.
    init(_ request: DecodingRequest) {
        guard let context = avformat_alloc_context() else { RecordOutput.fail(.stopped) }
        context.pointee.pb = FileInput.open()
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        context.pointee.format_whitelist = av_strdup(VideoFormats.containers)
        context.pointee.codec_whitelist = av_strdup(VideoFormats.decoders.joined(separator: ","))
        context.pointee.protocol_whitelist = av_strdup("none")
        context.pointee.max_streams = 32
        var formatContext: UnsafeMutablePointer<AVFormatContext>? = context
        guard avformat_open_input(&formatContext, nil, nil, nil) >= 0, let formatContext else {
            RecordOutput.fail(.unknownFormat)
        }
        file = formatContext
        guard avformat_find_stream_info(formatContext, nil) >= 0 else { RecordOutput.fail(.broken) }
        videoDecoder = VideoDecoder(formatContext, AVMEDIA_TYPE_VIDEO)
        audioDecoder = VideoDecoder(formatContext, AVMEDIA_TYPE_AUDIO)
        guard videoDecoder != nil || audioDecoder != nil else { RecordOutput.fail(.unknownFormat) }
        frames = videoDecoder.map { FrameOutput($0.stream, request) }
        audioOutput = audioDecoder.map { _ in AudioOutput() }
        for index in 0..<Int(formatContext.pointee.nb_streams)
        where ![videoDecoder?.index, audioDecoder?.index].contains(Int32(index)) {
            formatContext.pointee.streams[index]?.pointee.discard = AVDISCARD_ALL
        }
    }

    /// In milliseconds; 0 if unknown.
    private var duration: Int {
        let length = file.pointee.duration
        return length == shim_no_time ? 0 : Int(min(max(0, length / 1000), Int64(Int32.max)))
    }

    func sendSize() -> Never {
        RecordOutput.send(
            .media(
                duration: duration, width: frames?.width ?? 0, height: frames?.height ?? 0,
                hasAudio: audioDecoder != nil))
        RecordOutput.end()
    }

    /// Sends a frame from near the start as an image; the very first frame is often black.
    func sendStill() -> Never {
        guard let videoDecoder, let frames else { RecordOutput.fail(.unknownFormat) }
        seek(to: min(duration / 10, 2000))
        RecordOutput.send(.info(width: frames.width, height: frames.height, isAnimated: false))
        readPackets { packet, index in
            guard index == videoDecoder.index else { return }
            videoDecoder.decode(packet) { frame, _ in
                guard let drawn = frames.draw(frame) else { return }
                RecordOutput.send(ImageRecord.frame(width: drawn.width, height: drawn.height, delay: 0))
                drawn.pixels.withUnsafeBytes(RecordOutput.write)
                RecordOutput.end()
            }
        }
        RecordOutput.fail(.broken)
    }

    /// Sends frames and audio from a time on, in milliseconds.
    func send(from start: Int) -> Never {
        RecordOutput.send(
            .media(
                duration: duration, width: frames?.displaySize.width ?? 0, height: frames?.displaySize.height ?? 0,
                hasAudio: audioDecoder != nil))
        if start > 0 { seek(to: start) }
        readPackets { packet, index in
            if let videoDecoder, let frames, index == videoDecoder.index {
                videoDecoder.decode(packet) { frames.send($0, at: $1, from: start) }
            } else if let audioDecoder, let audioOutput, index == audioDecoder.index {
                audioDecoder.decode(packet) { audioOutput.send($0, at: $1, from: start) }
            }
        }
        RecordOutput.end()
    }

    /// Seeks to the last key frame at or before a time in milliseconds.
    private func seek(to time: Int) {
        let origin = file.pointee.start_time == shim_no_time ? 0 : file.pointee.start_time
        let timestamp = origin + Int64(time) * 1000
        guard avformat_seek_file(file, -1, Int64.min, timestamp, timestamp, 0) >= 0 else { return }
        videoDecoder?.forget()
        audioDecoder?.forget()
    }

    /// Calls `body` with each packet, and finally with `nil` for each stream, to flush its decoder.
    private func readPackets(_ body: (UnsafeMutablePointer<AVPacket>?, Int32) -> Void) {
        guard let packet = av_packet_alloc() else { RecordOutput.fail(.stopped) }
        while av_read_frame(file, packet) >= 0 {
            body(packet, packet.pointee.stream_index)
            av_packet_unref(packet)
        }
        for decoder in [videoDecoder, audioDecoder] { if let decoder { body(nil, decoder.index) } }
    }
}
