/// Of this Stagedoor, as the command, the log and the metrics say it.
public enum Version {
    public static let current = "0.1.0"
}
