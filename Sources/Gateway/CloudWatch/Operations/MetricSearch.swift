import StageMetrics

/// What GetMetricData's `SEARCH` looks for, as far as tools that draw curves ask: a schema, terms with `=`, alternatives by `OR`.
///
///     SEARCH('{AWS/IVSRealTime,Stage} MetricName="Publishers" Stage="abc"', 'Average', 60)
///     REMOVE_EMPTY(SEARCH('{"AWS/IVSRealTime","Stage"} MetricName="Publishers" "Stage"=("a" OR "b")', 'Maximum', 300))
struct MetricSearch: Equatable {
    let statistic: String
    /// Seconds, where it says.
    let period: Int?
    private var namespaces: Set<String> = []
    /// The names of all dimensions; nil when there may be any.
    private var dimensionNames: Set<String>?
    /// Allowed values by what has them.
    private var values: [String: Set<String>] = [:]

    /// As CloudWatch has it.
    static let maximumLength = 2_048
    private static let help = "Of expressions only SEARCH('{AWS/IVSRealTime,…} MetricName=\"…\"', 'Average', 60) is served here."

    init(parsing expression: String) throws(CloudWatchError) {
        // Every quantifier is possessive (`+` behind it): ways to divide blanks between two of them would multiply.
        let form =
            #/
            \s*+(?:REMOVE_EMPTY\()?+\s*+SEARCH\(\s*+'(?<terms>[^']*+)'\s*+,\s*+'(?<stat>[^']++)'\s*+
            (?:,\s*+(?<period>\d{1,5}+)\s*+)?+\)\s*+\)?+\s*+
            /#
        guard expression.utf8.count <= Self.maximumLength, let match = expression.wholeMatch(of: form) else {
            throw .validation(Self.help)
        }
        (statistic, period) = (String(match.stat), match.period.flatMap { Int($0) })
        var terms = match.terms
        if let schema = terms.prefixMatch(of: /\s*\{(?<names>[^}]*)\}/) {
            let names = schema.names.split(separator: Character(",")).map(Self.unquoted)
            guard let namespace = names.first else { throw .validation(Self.help) }
            (namespaces, dimensionNames) = ([namespace], Set(names.dropFirst()))
            terms = terms[schema.range.upperBound...]
        }
        try parse(terms)
    }

    private mutating func parse(_ text: Substring) throws(CloudWatchError) {
        let term =
            /\s*(?:AND\s+)?"?(?<name>[A-Za-z:]+)"?\s*=\s*(?:\((?<several>[^)]*)\)|"(?<quoted>[^"]*)"|(?<plain>[^\s"()]+))\s*/
        var rest = text
        while !rest.allSatisfy(\.isWhitespace) {
            guard let match = rest.prefixMatch(of: term) else { throw .validation(Self.help) }
            let one = (match.quoted ?? match.plain).map { [String($0)] }
            let found = one ?? match.several.map(Self.alternatives) ?? []
            let name = match.name.hasPrefix(":aws.") ? String(match.name.dropFirst(5)) : String(match.name)
            if name == "Namespace" { namespaces = Set(found) } else { values[name] = Set(found) }
            rest = rest[match.range.upperBound...]
        }
    }

    /// What stands between the `OR`s. By words: an expression would look at a long run of blanks from each of its places.
    private static func alternatives(_ text: Substring) -> [String] {
        let words = text.split(whereSeparator: \.isWhitespace)
        return words.split(whereSeparator: { $0 == "OR" }).map { unquoted($0.joined(separator: " ")) }
    }

    private static func unquoted(_ text: some StringProtocol) -> String {
        String(text.drop { $0.isWhitespace || $0 == "\"" }.reversed().drop { $0.isWhitespace || $0 == "\"" }.reversed())
    }

    func finds(_ series: MetricSeries) -> Bool {
        let dimensions = series.dimensions
        guard namespaces.isEmpty || namespaces.contains(MetricSeries.namespace) else { return false }
        if let dimensionNames, dimensionNames != Set(dimensions.map(\.name)) { return false }
        return values.allSatisfy { name, allowed in
            if name == "MetricName" { return allowed.contains(series.metric.rawValue) }
            return dimensions.contains { $0.name == name && allowed.contains($0.value) }
        }
    }

    /// The only stage that it can find something of; nil when there are several.
    var stageID: String? { values["Stage"].flatMap { $0.count == 1 ? $0.first : nil } }
}
