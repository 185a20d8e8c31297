import Settings
import WebRTCTransport
import Wire

extension TransportConfiguration {
    /// - Parameter media: the bound media port.
    init(_ configuration: StagedoorConfiguration, media: SocketAddress) throws {
        let port = configuration.advertise.mediaPort > 0 ? UInt16(configuration.advertise.mediaPort) : media.port
        let addresses = try AdvertisedAddresses.list(configuration.advertise.addresses, bound: media.ip)
        self.init(
            advertisedAddresses: addresses.map { SocketAddress($0, port: port) }, tcpPort: configuration.media.tcp ? port : nil)
        whip = configuration.whip
    }
}
