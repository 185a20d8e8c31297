import Wire

extension JournalEntry {
    /// As JSON; nil of those that come seldom, or have texts.
    ///
    /// Parts come every second, segments every few, of every recording: what is written of them is numbers, and needs no encoder.
    /// The words are those of `Codable`, whose decoder reads them.
    var plainText: String? {
        switch self {
        case .segment(let start, let byteCount, let nanoseconds):
            #"{"segment":{"_0":\#(start.plainText),"byteCount":\#(byteCount),"nanoseconds":\#(nanoseconds)}}"#
        case .grown(let byteCount, let nanoseconds): #"{"grown":{"byteCount":\#(byteCount),"nanoseconds":\#(nanoseconds)}}"#
        case .segmentEnded: #"{"segmentEnded":{}}"#
        case .segmentStored(let number): #"{"segmentStored":{"_0":\#(number)}}"#
        default: nil
        }
    }
}

extension SegmentStart {
    fileprivate var plainText: String {
        #"{"number":\#(number),"map":\#(map),"isDiscontinuous":\#(isDiscontinuous),"isIndependent":\#(isIndependent),"#
            + #""date":{"nanosecondsSince1970":\#(date.nanosecondsSince1970)}}"#
    }
}
