/// The supported formats: those in common use, because each further parser adds attack surface.
enum VideoFormats {
    /// Names of FFmpeg's demuxers.
    static let containers = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,ogg,wav,flac,mp3,aac,amr"
    /// Names of FFmpeg's decoders.
    static let decoders = [
        "h264", "hevc", "vp8", "vp9", "libdav1d", "av1", "theora", "mpeg4", "h263", "mjpeg",
        "aac", "mp3float", "mp3", "opus", "libopus", "vorbis", "flac", "alac", "amrnb", "amrwb", "libopencore_amrnb",
        "libopencore_amrwb", "pcm_u8", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_s32le", "pcm_f32le", "pcm_mulaw",
        "pcm_alaw", "adpcm_ms", "adpcm_ima_wav",
    ]
}
