public import MediaContract

/// The media contract looks at RTMP publishes as it is.
extension ContractSession: MediaInspector {}
