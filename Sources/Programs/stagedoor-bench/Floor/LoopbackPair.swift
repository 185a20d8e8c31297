import CShim
import Glibc

/// Two sockets on 127.0.0.1 that talk to each other.
final class LoopbackPair {
    let near: CInt
    let far: CInt

    /// - Parameter isStream: TCP; otherwise UDP.
    init(isStream: Bool) throws {
        let kind = CInt((isStream ? SOCK_STREAM : SOCK_DGRAM).rawValue)
        let first = try Self.bound(kind)
        near = try Self.bound(kind)
        if isStream {
            guard listen(first, 1) == 0 else { throw FloorError.system("listen", errno) }
            try Self.connect(near, to: first)
            far = accept(first, nil, nil)
            close(first)
        } else {
            far = first
            try Self.connect(near, to: far)
            for descriptor in [near, far] {
                shim_set_option(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
                shim_set_option(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, 8 << 20)
            }
        }
        guard far >= 0 else { throw FloorError.system("accept", errno) }
    }

    deinit {
        close(near)
        close(far)
    }

    /// Where datagrams to the far socket go.
    var farAddress: shim_address { shim_local_address(far) }

    private static func bound(_ kind: CInt) throws -> CInt {
        let descriptor = socket(AF_INET, kind, 0)
        var address = shim_address(high: 0, low: 0x7F00_0001, scope: 0, port: 0, family: 4)
        guard descriptor >= 0, unsafe shim_bind(descriptor, AF_INET, &address) == 0 else {
            throw FloorError.system("bind", errno)
        }
        return descriptor
    }

    private static func connect(_ descriptor: CInt, to other: CInt) throws {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe getsockname(other, address, &length) == 0 ? Glibc.connect(descriptor, address, length) : -1
            }
        }
        guard status == 0 else { throw FloorError.system("connect", errno) }
    }

    /// Reads and forgets all that lies at the near socket's peer.
    func drainFar() {
        unsafe withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
            while unsafe recv(far, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT)) > 0 {}
        }
    }
}

/// Sends equal datagrams by one call (UDP GSO), or one by a plain one.
@safe struct DatagramGun {
    let pair: LoopbackPair
    private let payload: UnsafeMutableRawBufferPointer

    init(_ pair: LoopbackPair) {
        self.pair = pair
        unsafe payload = .allocate(byteCount: 65_536, alignment: 16)
        unsafe payload.initializeMemory(as: UInt8.self, repeating: 0)
    }

    func free() { unsafe payload.deallocate() }

    /// - Parameter byteCount: of all of them; the last one may be shorter.
    func send(byteCount: Int, segmentSize: Int = 0) {
        var vector = unsafe iovec(iov_base: payload.baseAddress, iov_len: byteCount)
        var (peer, local) = (pair.farAddress, shim_address())
        _ = unsafe shim_send_datagrams(pair.near, AF_INET, &vector, 1, UInt16(segmentSize), &peer, &local)
    }
}
