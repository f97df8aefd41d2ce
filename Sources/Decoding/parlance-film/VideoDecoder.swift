import CFFmpeg
import ConfinedDecoding
import MediaDecoding

/// A stream of a file and its decoder.
final class VideoDecoder {
    let index: Int32
    let stream: UnsafeMutablePointer<AVStream>
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    /// The start time of the file in milliseconds.
    private let origin: Double

    /// Opens the best stream of a kind, or returns `nil` if none can be decoded.
    init?(_ file: UnsafeMutablePointer<AVFormatContext>, _ kind: AVMediaType) {
        var codec: UnsafePointer<AVCodec>?
        index = av_find_best_stream(file, kind, -1, -1, &codec, 0)
        guard index >= 0, let codec, let stream = file.pointee.streams[Int(index)],
            // Cover art is not a video.
            stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC == 0,
            VideoFormats.decoders.contains(String(cString: codec.pointee.name)),
            let context = avcodec_alloc_context3(codec), let frame = av_frame_alloc()
        else { return nil }
        self.stream = stream
        self.context = context
        self.frame = frame
        origin = file.pointee.start_time == shim_no_time ? 0 : Double(file.pointee.start_time) / 1000
        guard avcodec_parameters_to_context(context, stream.pointee.codecpar) >= 0 else { return nil }
        // The confinement does not allow threads.
        context.pointee.thread_count = 1
        context.pointee.pkt_timebase = stream.pointee.time_base
        context.pointee.max_pixels = Int64(VideoLimits.pixels)
        guard avcodec_open2(context, codec, nil) >= 0 else { return nil }
    }

    func forget() { avcodec_flush_buffers(context) }

    /// Decodes a packet, or with `nil` flushes the decoder, and calls `body` with each frame and its time in
    /// milliseconds.
    func decode(
        _ packet: UnsafeMutablePointer<AVPacket>?, _ body: (UnsafeMutablePointer<AVFrame>, _ time: Double?) -> Void
    ) {
        // Skip invalid packets.
        guard avcodec_send_packet(context, packet) >= 0 || packet == nil else { return }
        while avcodec_receive_frame(context, frame) >= 0 {
            let stamp = frame.pointee.best_effort_timestamp
            let base = stream.pointee.time_base
            let time =
                stamp == shim_no_time || base.den == 0
                ? nil : Double(stamp) * Double(base.num) / Double(base.den) * 1000 - origin
            body(frame, time)
            av_frame_unref(frame)
        }
    }
}
