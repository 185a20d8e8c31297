import Foundation
import Synchronization
public import Wire

/// Debian's redis-server on a port of its own, with its data in a folder of its own. It ends with its object.
///
/// Debian's package redis-server would start a service; the program itself, under another name, is in redis-tools. The variable
/// STAGEDOOR_REDIS_SERVER names another program to start in its place, such as scripts/valkey-server.
public final class RedisServer {
    public private(set) var port: UInt16 = 0
    public var address: SocketAddress { SocketAddress(.loopback, port: port) }
    public var isRunning: Bool { process?.isRunning ?? false }
    /// What the server has written to its log.
    public var log: String { (try? String(contentsOf: folder.appending(path: "log"), encoding: .utf8)) ?? "" }

    private let folder: URL
    private let program: URL
    private let configuration: [String]
    private let isSentinel: Bool
    private var process: Process?

    /// Starts a server and waits until it answers.
    /// - Parameter configuration: lines of redis.conf; for a sentinel its own, which it rewrites.
    public init(_ configuration: [String] = [], isSentinel: Bool = false) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "stagedoor-redis-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if let other = ProcessInfo.processInfo.environment["STAGEDOOR_REDIS_SERVER"] {
            program = URL(fileURLWithPath: other)
        } else {
            program = folder.appending(path: "redis-server")
            try FileManager.default.createSymbolicLink(
                at: program, withDestinationURL: URL(fileURLWithPath: "/usr/bin/redis-check-rdb"))
        }
        self.configuration =
            ["bind 127.0.0.1", "dir \(folder.path)", "logfile \(folder.path)/log", "daemonize no"]
            + (isSentinel ? [] : ["save \"\"", "repl-diskless-sync-delay 0"]) + configuration
        self.isSentinel = isSentinel
        try startOnFreePort()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Starts it again, with the data of its append-only file if it has one.
    public func start() throws {
        let process = Process()
        process.executableURL = program
        process.arguments = [configurationFile.path] + (isSentinel ? ["--sentinel"] : [])
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        process.standardError = FileHandle.nullDevice
        try Self.spawning.withLock { _ in try process.run() }
        self.process = process
        let end = ContinuousClock.now.advanced(by: .seconds(60))
        while !answers {
            guard process.isRunning, ContinuousClock.now < end else { throw Fault(description: "redis-server: \(log)") }
            usleep(10_000)
        }
    }

    private var configurationFile: URL { folder.appending(path: "redis.conf") }

    /// A port that is free when it is looked for may be taken when the server comes for it.
    private func startOnFreePort() throws {
        for attempt in 1...3 {
            port = FreePorts.tcp(withAnotherAbove: 10_000)
            let text = (["port \(port)"] + configuration).joined(separator: "\n") + "\n"
            try text.write(to: configurationFile, atomically: true, encoding: .utf8)
            do { return try start() } catch  where attempt < 3 && log.contains("Address already in use") { continue }
        }
    }

    /// Ends it at once, as a crash would.
    public func kill() {
        guard let process else { return }
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        self.process = nil
    }

    /// Makes it silent without ending its connections (SIGSTOP), until `resume`.
    public func pause() { signal(SIGSTOP) }
    public func resume() { signal(SIGCONT) }

    /// What redis-cli prints for a command.
    @discardableResult
    public func ask(_ words: String...) throws -> String { try ask(words) }

    @discardableResult
    public func ask(_ words: [String]) throws -> String {
        try Self.output(of: ["redis-cli", "-h", "127.0.0.1", "-p", "\(port)", "--no-auth-warning"] + words)
    }

    public struct Fault: Error, CustomStringConvertible {
        public let description: String
    }

    private func signal(_ number: Int32) {
        if let process, process.isRunning { Foundation.kill(process.processIdentifier, number) }
    }

    /// PONG, or a refusal that a working server gives to strangers.
    private var answers: Bool {
        guard let said = try? ask("PING") else { return false }
        return said.hasPrefix("PONG") || said.hasPrefix("NOAUTH")
    }

    /// Foundation's `Process` starts one program at a time: two threads at once crashed in it.
    private static let spawning = Mutex(())

    private static func output(of arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let pipe = Pipe()
        (process.standardInput, process.standardOutput, process.standardError) = (FileHandle.nullDevice, pipe, pipe)
        try Self.spawning.withLock { _ in try process.run() }
        let bytes = pipe.readToEnd()
        process.waitUntilExit()
        let text = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard process.terminationStatus == 0 else { throw Fault(description: "\(arguments.joined(separator: " ")): \(text)") }
        return text
    }
}
