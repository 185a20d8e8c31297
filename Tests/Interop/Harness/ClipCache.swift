import Foundation

/// Media that tests make and share, kept in .build/clips under a hash of its recipe.
enum ClipCache {
    /// The file of a recipe; `make` writes it the first time it is asked for.
    static func file(_ recipe: [String], suffix: String = ".flv", make: (URL) throws -> Void) throws -> URL {
        let (file, made) = (try place(of: recipe, suffix: suffix), try place(of: [UUID().uuidString], suffix: suffix))
        guard !FileManager.default.fileExists(atPath: file.path) else { return file }
        try make(made)
        // Another process may have made it meanwhile.
        _ = try? FileManager.default.moveItem(at: made, to: file)
        return file
    }

    private static func place(of recipe: [String], suffix: String) throws -> URL {
        let folder = Workspace.package.appending(path: ".build/clips")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appending(path: hash(recipe) + suffix)
    }

    /// FNV-1a: the same name in every process.
    private static func hash(_ recipe: [String]) -> String {
        let value = recipe.joined(separator: "\n").utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(value, radix: 16)
    }
}
