import CShim
import EventLoop
import Glibc

/// Blocking sockets of 127.0.0.1, which their users own.
enum LoopbackSocket {
    static func listening(at port: UInt16) throws -> CInt {
        let descriptor = try bound(SOCK_STREAM, at: port)
        guard listen(descriptor, 1_024) == 0 else { throw SystemError(call: "listen") }
        return descriptor
    }

    static func accept(from listener: CInt) -> CInt? {
        let descriptor = Glibc.accept(listener, nil, nil)
        return descriptor >= 0 ? descriptor : nil
    }

    /// With buffers for a second of 8 Mbit/s, so that nothing is lost at a busy machine.
    static func datagrams(at port: UInt16 = 0) throws -> CInt {
        let descriptor = try bound(SOCK_DGRAM, at: port)
        shim_set_option(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, bufferByteCount)
        shim_set_option(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, bufferByteCount)
        return descriptor
    }

    static func address(port: UInt16) -> shim_address {
        shim_address(high: 0, low: 0x7F00_0001, scope: 0, port: port, family: 4)
    }

    private static func bound(_ kind: __socket_type, at port: UInt16) throws -> CInt {
        let descriptor = socket(AF_INET, CInt(kind.rawValue), 0)
        shim_set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        var address = address(port: port)
        guard descriptor >= 0, unsafe shim_bind(descriptor, AF_INET, &address) == 0 else {
            throw SystemError(call: "bind")
        }
        return descriptor
    }

    private static let bufferByteCount: CInt = 8 << 20
}
