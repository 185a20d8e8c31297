/// What of this machine's loopback there is.
public enum Loopback {
    /// Containers mostly have no IPv6 at all.
    public static let hasIPv6 = kernelTable("/proc/net/if_inet6").contains("00000000000000000000000000000001 ")
}
