import Glibc

/// A table of the kernel's, such as /proc/net/udp, whole; empty when there is none.
///
/// Such a file has no size, and each read gives a page of it at most: Foundation takes the first short read for the end, and then
/// sockets are missing on a machine that has many.
public func kernelTable(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var (text, page) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while true {
        let count = read(descriptor, &page, page.count)
        if count > 0 { text += page[..<count] } else if count == 0 || errno != EINTR { break }
    }
    return String(decoding: text, as: UTF8.self)
}
