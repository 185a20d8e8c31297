/// A recording's folder in the spool, and which file of it is what. A value.
struct SpoolFolder {
    let path: String

    func initialization(_ number: Int) -> String { "\(path)/init-\(number).mp4" }
    func segment(_ number: Int) -> String { "\(path)/\(number).mp4" }
    func thumbnail(_ number: Int) -> String { "\(path)/thumb-\(number).jpg" }
}
