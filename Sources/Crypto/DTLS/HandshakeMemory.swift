import CHandshakeMemory

/// The memory of one connection's handshake, which OpenSSL keeps as long as the connection: more than half of all that it takes.
@safe struct HandshakeMemory {
    /// Lives until the handshake is done, or a call of OpenSSL's for the connection frees it.
    private(set) var buffer: UnsafeMutableRawPointer?

    /// Every call for a connection whose handshake runs.
    mutating func during<Result>(_ call: () -> Result) -> Result {
        unsafe handshake_memory_watch(buffer)
        defer { unsafe buffer = handshake_memory_watched() }
        return call()
    }

    /// The handshake is done. Should the peer's last flight come again, OpenSSL takes what it needs anew.
    mutating func giveBack() {
        unsafe handshake_memory_give_back(buffer)
        unsafe buffer = nil
    }
}
