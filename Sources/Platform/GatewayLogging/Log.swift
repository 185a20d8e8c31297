public import EventLoop
import Glibc
import Synchronization
import Wire

/// The process's log: one line per change of state.
///
/// Before `start` events go nowhere, so that tests stay silent. Never call it on the media path.
///
///     try Log.start(level: .info)
///     Log.event(.info, "publish_started", ["session": .string(id), "took": .seconds(duration)])
public enum Log {
    private static let writer = Lock<LogWriter?>(nil)
    private static let minimumLevel = Atomic<Int>(LogLevel.info.rawValue)
    private static let isStarted = Atomic<Bool>(false)

    /// Begins to write: JSON lines, or text where `format` is nil and the descriptor is a terminal.
    public static func start(descriptor: CInt = 2, level: LogLevel, format: LogFormat? = nil) throws(SystemError) {
        let format = format ?? (isatty(descriptor) == 1 ? .text : .json)
        let new = try LogWriter(descriptor: descriptor, format: format)
        setLevel(level)
        let old = writer.withLock { writer in
            defer { writer = new }
            return writer
        }
        isStarted.store(true, ordering: .releasing)
        old?.close()
    }

    /// Writes what waits and stops. Call it last.
    public static func stop() {
        isStarted.store(false, ordering: .releasing)
        let old = writer.withLock { $0.take() }
        old?.close()
    }

    /// Takes effect at once, on every thread.
    public static func setLevel(_ level: LogLevel) { minimumLevel.store(level.rawValue, ordering: .relaxed) }

    /// Whether an event of that level would be written: for fields that are costly to gather.
    public static func isEnabled(_ level: LogLevel) -> Bool {
        level.rawValue >= minimumLevel.load(ordering: .relaxed) && isStarted.load(ordering: .acquiring)
    }

    /// Logs one event.
    /// - Parameters:
    ///   - name: a word in snake_case that names the change of state: `publish_started`.
    ///   - fields: is not computed when the level is off.
    public static func event(_ level: LogLevel, _ name: String, _ fields: @autoclosure () -> LogFields = [:]) {
        guard isEnabled(level), let writer = writer.withLock({ $0 }) else { return }
        writer.write(LogRecord(time: EventLoop.wallNow(), level: level, event: name, fields: fields()))
    }

    /// Logs one event that somebody can cause who has shown no valid credential: of each kind ten lines a second, and one line
    /// `lines_left_out` with the number of the others.
    /// - Parameter name: a literal, so that a stranger cannot make kinds.
    public static func strangerEvent(
        _ level: LogLevel, _ name: StaticString, _ fields: @autoclosure () -> LogFields = [:]
    ) {
        guard isEnabled(level), let writer = writer.withLock({ $0 }) else { return }
        let name = name.description
        guard writer.admitsStranger(name, at: EventLoop.monotonicNow()) else { return }
        writer.write(LogRecord(time: EventLoop.wallNow(), level: level, event: name, fields: fields()))
    }
}

/// How much an event matters; ascending.
public enum LogLevel: Int, Comparable, Sendable, CaseIterable {
    case debug
    case info
    case warning
    case error

    /// `debug`, `info`, `warning` or `error`.
    public var name: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .warning: "warning"
        case .error: "error"
        }
    }

    /// The level of that name, as the configuration has it; nil for another word.
    public init?(name: String) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    /// Whether the left one matters less.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
