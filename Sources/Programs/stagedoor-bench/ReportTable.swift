import ArgumentParser
import Foundation
import JSON

/// `stagedoor-bench report`: what the other commands printed, as one table to read; several runs stand side by side.
struct ReportTable: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Turns reports (JSON) into one readable table, a column for each.")

    @Argument(help: "Files with one report each; standard input without any.")
    var files: [String] = []

    func run() throws {
        let texts: [Data] =
            try files.isEmpty
            ? [FileHandle.standardInput.readToEnd() ?? Data()] : files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        let reports = try texts.map { ReportRows(try JSONValue(parsing: [UInt8]($0))) }
        let titles = files.isEmpty ? [""] : files.map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent }
        for line in Self.lines(titles, reports) { Swift.print(line) }
    }

    /// Rows in the order in which they are met first; a report without one shows a dash.
    static func lines(_ titles: [String], _ reports: [ReportRows]) -> [String] {
        var names: [String] = []
        for row in reports.joined() where !names.contains(row.name) { names.append(row.name) }
        var table = titles.allSatisfy(\.isEmpty) ? [] : [[""] + titles]
        for name in names { table.append([name] + reports.map { $0.first { $0.name == name }?.value ?? "–" }) }
        let widths = (0...reports.count).map { column in table.map { $0[column].count }.max() ?? 0 }
        return table.map { cells in
            cells.enumerated().map { index, cell in
                let space = String(repeating: " ", count: widths[index] - cell.count)
                return index == 0 ? cell + space : space + cell
            }.joined(separator: "  ")
        }
    }
}

/// The members of one report as named values: nested ones under their path, percentiles in one row.
struct ReportRows: Sequence {
    private var rows: [(name: String, value: String)] = []

    init(_ report: JSONValue) { add(report, path: []) }

    func makeIterator() -> IndexingIterator<[(name: String, value: String)]> { rows.makeIterator() }

    private mutating func add(_ value: JSONValue, path: [String]) {
        guard let object = value.object else { return rows.append((path.joined(separator: ", "), Self.text(value))) }
        if let p50 = object["p50"], let p99 = object["p99"], let maximum = object["maximum"] {
            if object["count"] == 0 { return }
            let values = [p50, p99, maximum].map(Self.text).joined(separator: " / ")
            return rows.append((path.joined(separator: ", ") + ", p50 / p99 / maximum", values))
        }
        for member in object.members { add(member.value, path: path + [Self.words(member.name)]) }
    }

    /// `peakRSSKilobytes` as `peak RSS kilobytes`; names that are no identifiers stay.
    private static func words(_ name: String) -> String {
        guard !name.contains(" ") else { return name }
        let letters = Array(name)
        var text = ""
        for (index, letter) in letters.enumerated() {
            let beginsWord = letter.isUppercase && index + 1 < letters.count && letters[index + 1].isLowercase
            let followsWord = letter.isUppercase && index > 0 && letters[index - 1].isLowercase
            if beginsWord || followsWord { text += " " }
            text += beginsWord ? letter.lowercased() : String(letter)
        }
        return text
    }

    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .number(let number): String(format: "%.3f", number)
        case .string(let text): text
        case .bool(let flag): flag ? "yes" : "no"
        case .null, .array, .object: "–"
        }
    }
}
