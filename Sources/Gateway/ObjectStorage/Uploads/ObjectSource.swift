/// Where an object is read from.
public enum ObjectSource: Sendable, Equatable {
    /// A bucket of the configuration file, by its name.
    case bucket(String)
    /// A folder of this machine, whose files are objects at their keys' paths.
    case folder(String)
}
