import CShim
import EventLoop
import Glibc
import Wire

extension TCPStream {
    static func connect(to address: SocketAddress) throws(SystemError) -> OwnedDescriptor {
        let family = address.ip.isV4 ? AF_INET : AF_INET6
        let number = shim_socket(family, CInt(SOCK_STREAM.rawValue))
        if number < 0 { throw SystemError(call: "socket") }
        let descriptor = OwnedDescriptor(number)
        var plain = address.shim
        if unsafe shim_connect(number, family, &plain) < 0, errno != EINPROGRESS { throw SystemError(call: "connect \(address)") }
        return descriptor
    }

    /// A socket that connects becomes writable when it has, or has not: then it has an error.
    func awaitConnection() {
        guard let descriptor else { return }
        writeWatch = loop.watch(descriptor: descriptor.number, for: .write) { [unowned self] in connected() }
    }

    private func connected() {
        guard let descriptor else { return }
        let code = shim_option(descriptor.number, SOL_SOCKET, SO_ERROR)
        guard code == 0 else { return end(.connectFailed(code)) }
        writeWatch = nil
        phase = .open
        watchReading()
        if !pending.isEmpty { flush() }
        guard phase == .open else { return }
        guard let (context, serverName) = tlsOnceConnected else { return onOpen() }
        startTLS(context, serverName: serverName)
    }
}
