import Admission
import Testing
import Wire

@Suite("What stands for a credential")
struct CredentialHashTests {
    /// `printf %s KEY | sha256sum` begins with it (docs/encoders.md), and the logs of two nodes agree about it.
    @Test func `the hash in logs is the one that operators compute`() {
        #expect(CredentialHash(of: Secret("WRONG")).text == "02b60b3b9ed309b7")
        #expect(CredentialHash(of: Secret("")).text == "e3b0c44298fc1c14")
    }
}
