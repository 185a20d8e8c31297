import Foundation
import Settings

/// What quickstart sets: pages to try things with, and a bucket for recordings.
enum QuickstartDefaults {
    static func apply(to configuration: inout StagedoorConfiguration) {
        configuration.watch.publishPage = true
        if configuration.storage.isEmpty {
            let data = URL(filePath: configuration.store.directory, directoryHint: .isDirectory)
            configuration.storage[bucket] = StorageSettings(directory: data.absoluteURL.appending(path: "recordings").path)
        }
        // Ctrl-C ends it at once, not after half an hour.
        if configuration.drain == DrainSettings() {
            (configuration.drain.grace, configuration.drain.timeout) = (.zero, .zero)
            configuration.drain.closesPerSecond = 10_000
        }
    }

    /// The name of quickstart's bucket; nil where the configuration names others.
    static func bucketName(in configuration: StagedoorConfiguration) -> String? {
        configuration.storage.bucket(bucket).map { _ in bucket }
    }

    private static let bucket = "recordings"
}
