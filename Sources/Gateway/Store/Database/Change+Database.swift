import GRDB

extension Change {
    /// Carries the change out in the file's tables.
    func apply(_ database: Database) throws {
        switch self {
        case .put(let record): try record.row.put(database)
        case .delete(.stage(let arn)): try Stage.delete(database, key: [arn])
        case .delete(.publicKey(let arn)): try PublicKey.delete(database, key: [arn])
        case .delete(.ingestConfiguration(let arn)): try IngestConfiguration.delete(database, key: [arn])
        case .delete(.revocation(let arn, let participantID)): try Revocation.delete(database, key: [arn, participantID])
        case .delete(.placement(let key)): try Placement.delete(database, key: [key.stageID, String(key.replica)])
        case .delete(.setting(let name)): try Setting.delete(database, key: [name])
        }
    }
}

extension Record {
    fileprivate var row: any StoredRecord {
        switch self {
        case .stage(let stage): stage
        case .publicKey(let key): key
        case .ingestConfiguration(let configuration): configuration
        case .revocation(let revocation): revocation
        case .placement(let placement): placement
        case .setting(let setting): setting
        }
    }
}
