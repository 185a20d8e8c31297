public import Foundation

extension Pipe {
    /// What was written until every writer closed its end. Unlike Foundation's `readDataToEndOfFile`, no signal ends the process:
    /// tests beside this one start and end programs, and a read may be interrupted by that (EINTR).
    public func readToEnd() -> Data {
        var (data, bytes) = (Data(), [UInt8](repeating: 0, count: 65_536))
        while true {
            let count = read(fileHandleForReading.fileDescriptor, &bytes, bytes.count)
            if count > 0 { data.append(contentsOf: bytes[..<count]) } else if count == 0 || errno != EINTR { return data }
        }
    }
}
