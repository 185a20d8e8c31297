import Foundation
import Testing

/// OBS Studio without a screen, streaming as soon as it has started: Xvfb shows it a display, Mesa draws in software.
final class OBS {
    /// What the output page of its settings holds for x264.
    enum EncoderSettings: String {
        /// Nobody has touched them: High, 2 B-frames, a keyframe every 250 frames.
        case untouched = "{}"
        /// As our sentences tell.
        case mended = """
            {"rate_control": "CBR", "bitrate": 1500, "keyint_sec": 2, "preset": "veryfast", "profile": "baseline", "bf": 0}
            """
    }

    private let display: ProgramRun
    private let run: ProgramRun

    /// Its log.
    var output: String { run.output }
    var isRunning: Bool { run.isRunning }

    /// - Parameter authority: a certificate file that it trusts, for RTMPS.
    init(to server: String, key: String, settings: EncoderSettings, trusting authority: String? = nil) throws {
        let home = Workspace.temporaryFile(suffix: ".obs")
        try Self.configure(home, server: server, key: key, settings: settings)
        display = try ProgramRun(
            Forky.command(["Xvfb", "-displayfd", "1", "-screen", "0", "1024x600x24", "+extension", "GLX", "-nolisten", "tcp"]))
        var number: Int?
        expect("a display", within: .seconds(60)) { [display] in
            number = display.output.split(separator: "\n").compactMap { Int($0) }.first
            return number != nil
        }
        let environment = [
            "HOME=\(home.path)", "XDG_CONFIG_HOME=\(home.path)/.config", "XDG_RUNTIME_DIR=\(home.path)/run",
            "DISPLAY=:\(try #require(number, "\(display.output)"))", "LIBGL_ALWAYS_SOFTWARE=1", "QT_QPA_PLATFORM=xcb",
            "LC_ALL=C.UTF-8",
        ]
        let options = [
            "--startstreaming", "--profile", "stagedoor", "--collection", "stagedoor", "--multi", "--minimize-to-tray",
            "--disable-shutdown-check", "--disable-updater", "--disable-missing-files-check", "--verbose",
        ]
        run = try ProgramRun(Forky.command(["env"] + environment + ["obs"] + options, trusting: authority))
    }

    /// Ends the stream and the program as its user would; the exit status, nil when it hangs.
    func stop() -> Int32? { run.interrupt(within: .seconds(60)) }

    private static func configure(_ home: URL, server: String, key: String, settings: EncoderSettings) throws {
        let files = FileManager.default
        let configuration = home.appending(path: ".config/obs-studio")
        try files.createDirectory(at: home.appending(path: ".config"), withIntermediateDirectories: true)
        try files.createDirectory(
            at: home.appending(path: "run"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try files.copyItem(at: Workspace.package.appending(path: "Tests/Interop/Clients/obs-studio"), to: configuration)
        try files.copyItem(atPath: Clip.p30.file(), toPath: home.appending(path: "input.flv").path)
        let scene = configuration.appending(path: "basic/scenes/stagedoor.json")
        try String(contentsOf: scene, encoding: .utf8).replacing("@HOME@", with: home.path)
            .write(to: scene, atomically: true, encoding: .utf8)
        let profile = configuration.appending(path: "basic/profiles/stagedoor")
        try settings.rawValue.write(to: profile.appending(path: "streamEncoder.json"), atomically: true, encoding: .utf8)
        try """
        {"type": "rtmp_custom", "settings": {"server": "\(server)", "key": "\(key)", "use_auth": false, "bwtest": false}}
        """.write(to: profile.appending(path: "service.json"), atomically: true, encoding: .utf8)
    }
}
