package import Wire

/// A value that the server made for itself and keeps: keys, credentials of the quickstart.
package struct Setting: Equatable, Sendable {
    package var name: String
    package var value: Secret

    package init(name: String, value: Secret) { (self.name, self.value) = (name, value) }
}
