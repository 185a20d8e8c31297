/// What OBS Studio posts to `GetClientConfiguration`.
public enum OBSRequest {
    private static let fullHD =
        #"{"width":1920,"height":1080,"canvas_width":3840,"canvas_height":2160,"framerate":{"numerator":60,"denominator":1}}"#

    /// As OBS 32.2 posts it on Windows.
    public static func body(
        key: String = "sk_us-east-1_abc?bandwidthtest=1", system: String = "Windows", isARM: Bool = false,
        gpu: String = #"[{"vendor_id":4318,"device_id":9860,"model":"RTX"}]"#,
        version: String = "32.2.2", canvas: String? = nil
    ) -> [UInt8] {
        Array(
            #"""
            {"service":"IVS","schema_version":"2025-01-25","authentication":"\#(key)",
            "client":{"name":"obs-studio","version":"\#(version)","supported_codecs":["h264","av1"]},
            "capabilities":{"cpu":{"physical_cores":8,"logical_cores":16,"speed":3600,"name":"CPU"},"memory":{"total":1,"free":1},
            "gaming_features":null,"system":{"version":"10","name":"\#(system)","build":1,"release":"","revision":"","bits":64,
            "arm":\#(isARM),"armEmulation":false},"gpu":\#(gpu)},
            "preferences":{"maximum_aggregate_bitrate":null,"maximum_video_tracks":null,"vod_track_audio":false,
            "composition_gpu_index":0,"audio_samples_per_sec":48000,"audio_channels":2,"audio_max_buffering_ms":960,
            "audio_fixed_buffering":false,"canvases":[\#(canvas ?? fullHD)]}}
            """#.utf8)
    }
}
