import Admission
import Refusals

extension IngestProtocol {
    /// As metric labels and log fields have it.
    var label: String { rawValue.lowercased() }
}

extension RefusalCode {
    /// A rule of the media contract was broken: the table keeps 1040 to 1069 for those.
    var isContractViolation: Bool { (1040...1069).contains(number) }
}
