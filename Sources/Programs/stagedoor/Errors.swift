import ArgumentParser
import Refusals

/// Prints docs/errors.md from the table of refusals.
struct Errors: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints the catalogue of refusals (docs/errors.md).")

    func run() { print(RefusalCatalogue.markdown, terminator: "") }
}
