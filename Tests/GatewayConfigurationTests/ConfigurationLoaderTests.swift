import Settings
import TestSupport
import Testing
import Wire

@testable import GatewayConfiguration

private func problems(_ yaml: String, _ environment: [String: String] = [:]) -> [String] {
    do {
        _ = try ConfigurationLoader.load(yaml: yaml, environment: environment)
        return []
    } catch {
        return error.problems.map(\.description)
    }
}

@Suite("Configuration")
struct ConfigurationLoaderTests {
    @Test(arguments: [nil, "", "# nothing\n", "\n\n"])
    func `nothing set means the defaults`(_ yaml: String?) throws {
        let configuration = try ConfigurationLoader.load(yaml: yaml)
        #expect(configuration == StagedoorConfiguration())
        #expect(configuration.rtmp.listen.address?.port == 1935)
    }

    @Test func `values of every kind are read`() throws {
        let configuration = try ConfigurationLoader.load(
            yaml: """
                http: {listen: ":0", requestTimeout: 250s, maximumBodySize: 128KiB}
                https:
                  listen: off
                trustedProxies: [10.0.0.0/8, "2001:db8::/32"]
                contract:
                  profile: {limit: [main, high], action: warn}
                  videoBitrate:
                    limit: 6_000_000
                  publishDuration: {limit: 2d}
                routers:
                  sfu: {driver: announce, url: "https://sfu:4443/x"}
                  lab: {driver: static, host: 127.0.0.1, ports: 6000-6003}
                watch: {publishPage: true}
                advertise: {addresses: [192.0.2.1]}
                """.replacing("250s", with: "15s"))
        #expect(configuration.http.listen.address?.description == "[::]:0")
        #expect(configuration.http.requestTimeout == .seconds(15))
        #expect(configuration.http.maximumBodySize.bytes == 131_072)
        #expect(configuration.https.listen == .off)
        #expect(configuration.trustedProxies.map(\.description) == ["10.0.0.0/8", "2001:db8::/32"])
        #expect(configuration.contract.profile == .init([.main, .high], .warn))
        #expect(configuration.contract.videoBitrate == .init(6_000_000, .disconnect))
        #expect(configuration.contract.publishDuration.limit == .seconds(172_800))
        #expect(configuration.routers.keys.sorted() == ["lab", "sfu"])
        #expect(configuration.routers["lab"]?.ports == PortRange(6000, 6003))
        #expect(configuration.advertise.addresses == [.address(IPAddress("192.0.2.1")!)])
        #expect(configuration.watch.publishPage)
    }

    @Test func `variables win, and may add entries to maps`() throws {
        let configuration = try ConfigurationLoader.load(
            yaml: "rtmp: {maximumConnections: 5}\nrouters: {mainSite: {driver: announce, url: http://a}}",
            environment: [
                "STAGEDOOR_RTMP_MAXIMUM_CONNECTIONS": "7", "STAGEDOOR_ADMIN_LISTEN": "0.0.0.0:9",
                "STAGEDOOR_TRUSTED_PROXIES": "10.0.0.0/8, 127.0.0.1", "STAGEDOOR_ROUTERS_MAIN_SITE_URL": "http://b",
                "STAGEDOOR_ACCESS_KEYS_OPS_ID": "AKIA", "STAGEDOOR_ACCESS_KEYS_OPS_SECRET": "0123456789abcdef", "HOME": "/",
                "STAGEDOOR_ONLY": "x",
            ])
        #expect(configuration.rtmp.maximumConnections == 7)
        #expect(configuration.admin.listen.address?.port == 9)
        #expect(configuration.trustedProxies.count == 2)
        #expect(configuration.routers["mainSite"]?.url == "http://b")
        #expect(configuration.accessKeys["ops"]?.secret == Secret("0123456789abcdef"))
    }

    @Test func `every key has the variable that swift-configuration looks for`() throws {
        for key in ConfigurationTable.keys {
            let sources = try SettingSources(yaml: nil, environment: [EnvironmentName.variable(for: key.path): "here"])
            #expect(sources.setting(at: key.path) == .scalar("here"), "\(key.path)")
        }
    }

    @Test(arguments: [
        ("rtmp: {listn: off}", "rtmp.listn: unknown key; did you mean rtmp.listen?"),
        ("rmtp: {listen: off}", "rmtp.listen: unknown key; did you mean rtmp.listen?"),
        ("nonsense: 1", "nonsense: unknown key"),
        ("contract: {bFrames: off}", "contract.bFrames: unknown key; did you mean contract.bFrames.action?"),
        ("routers: {a: {drivr: janus}}", "routers.a.drivr: unknown key; did you mean routers.a.driver?"),
        (
            "rtmp: {listen: 1935}",
            "rtmp.listen: \"1935\" is not taken: expected an address and port such as [::]:1935 (port 0: any free one), or off"
        ),
        (
            "rtmp: {idleTimeout: 5}",
            "rtmp.idleTimeout: \"5\" is not taken: expected a time such as 250ms, 5s, 30m, 24h from 2s to 5m"
        ),
        (
            "rtmp: {idleTimeout: 10m}",
            "rtmp.idleTimeout: \"10m\" is not taken: expected a time such as 250ms, 5s, 30m, 24h from 2s to 5m"
        ),
        (
            "rtmp: {maximumConnections: 0}",
            "rtmp.maximumConnections: \"0\" is not taken: expected a whole number from 1 to 1000000"
        ),
        (
            "rtmp: {maximumConnections: [1]}",
            "rtmp.maximumConnections: [1] is not taken: expected a whole number from 1 to 1000000"
        ),
        ("media: {tcp: yes}", "media.tcp: \"yes\" is not taken: expected true or false"),
        (
            "contract: {videoCodec: {action: kill}}",
            "contract.videoCodec.action: \"kill\" is not taken: expected one of disconnect, warn, off"
        ),
        (
            "trustedProxies: [10.0.0.0/40]",
            "trustedProxies: [10.0.0.0/40] is not taken: expected a list, each a network such as 10.0.0.0/8"
        ),
        ("rtmp: {listen: ':8080'}", "rtmp.listen: port 8080 is taken by http.listen"),
        ("listen: {shared: ':3478'}", "listen.shared: port 3478 is taken by media.listen"),
        (
            "https: {listen: '10.0.0.1:443'}\nlisten: {shared: '10.0.0.1:443'}",
            "listen.shared: port 443 is taken by https.listen"
        ),
        (
            "https: {listen: '10.0.0.1:443'}\nlisten: {shared: '0.0.0.0:443'}",
            "listen.shared: port 443 is taken by https.listen"
        ),
        (
            "https: {listen: '[::]:443'}\nlisten: {shared: '10.0.0.1:443'}",
            "listen.shared: port 443 is taken by https.listen"
        ),
        (
            "https: {listen: '[::1]:443'}\nlisten: {shared: '[::]:443'}",
            "listen.shared: port 443 is taken by https.listen"
        ),
        (
            "https: {listen: '0.0.0.0:443'}\nlisten: {shared: '[::]:443'}",
            "listen.shared: port 443 is taken by https.listen"
        ),
        ("tls: {certificate: a.pem}", "tls: certificate and privateKey belong together: one is missing"),
        ("admin: {auth: none, listen: '[::]:8088'}", "admin.auth: none is for a loopback admin.listen only: expected sigv4"),
        ("platform: {region: eu_1}", "platform.region: \"eu_1\" is not taken: expected 1 to 32 of a to z, 0 to 9 and -"),
        ("platform: {region: ''}", "platform.region: \"\" is not taken: expected 1 to 32 of a to z, 0 to 9 and -"),
        ("platform: {account: '12'}", "platform.account: \"12\" is not taken: expected 12 digits"),
        ("routers: {a: {driver: janus}}", "routers.a.url: is needed by driver janus"),
        ("routers: {a: {driver: static}}", "routers.a.host: is needed by driver static"),
        (
            "routers: {a: {driver: static, host: receiver.example}}",
            "routers.a.host: \"receiver.example\" is not taken: expected an IP address"
        ),
        (
            "routers: {a: {driver: janus, url: 'http://10.0.0.1/janus', host: janus.example}}",
            "routers.a.host: \"janus.example\" is not taken: expected an IP address"
        ),
        (
            "routers: {a: {driver: announce, srtp: true, url: 'http://127.0.0.1.example'}}",
            "routers.a.srtp: needs a url of https:// or of this machine: it carries the keys"
        ),
        (
            "routers: {a: {driver: announce, srtp: true, url: 'http://localhost:x@router.example'}}",
            "routers.a.srtp: needs a url of https:// or of this machine: it carries the keys"
        ),
        (
            "routers: {a: {driver: janus, srtp: true, url: 'http://[2001:db8::1]:8088/janus'}}",
            "routers.a.srtp: needs a url of https:// or of this machine: it carries the keys"
        ),
        ("routers: {}", "routers: needs at least one router"),
        (
            "webhooks: {a: {url: ftp://x}}",
            "webhooks.a.url: \"ftp://x\" is not taken: expected a URL that begins with http:// or https://"
        ),
        ("webhooks: {a: {}}", "webhooks.a.url: is needed"),
        ("webhooks: https://x", "webhooks: is not taken: expected a mapping such as {studio: {url: …}}"),
        ("webhooks: [https://x]", "webhooks: is not taken: expected a mapping such as {studio: {url: …}}"),
        ("accessKeys: hidden", "accessKeys: is not taken: expected a mapping such as {operations: {id: …}}"),
        ("storage: {abc: /srv/rec}", "storage.abc: is not taken: expected a mapping such as {directory: …}"),
        ("routers: {a: [embedded]}", "routers.a: is not taken: expected a mapping such as {driver: …}"),
        ("accessKeys: {a: {id: x, secret: short}}", "accessKeys.a: needs an id, and a secret of at least 16 characters"),
        (
            "accessKeys: {a: {id: 'AK,IA', secret: 0123456789abcdef}}",
            "accessKeys.a.id: expected visible ASCII without comma and slash"
        ),
        (
            "admin: {hosts: ['console.example:8088']}",
            "admin.hosts: \"console.example:8088\" is not taken: expected a host name or an IP address alone"
        ),
        (
            "accessKeys: {a: {id: x, secret: 0123456789abcdef, deny: [\(Array(repeating: "'*'", count: 101).joined(separator: ","))]}}",
            "accessKeys.a: each of its lists may have at most 100 entries"
        ),
        (
            "accessKeys: {a: {allow: [GetStage]}}",
            "accessKeys.a.allow: [GetStage] is not taken: expected a list, each an action such as ivs:GetStage, with * for any text"
        ),
        (
            "accessKeys: {a: {resources: [stage/a]}}",
            "accessKeys.a.resources: [stage/a] is not taken: expected a list, each a stage's ARN, with * for any text"
        ),
        ("contract: {frameRate: {minimum: 61}}", "contract.frameRate.minimum: is above contract.frameRate.maximum"),
        (
            "storage: {My_Bucket: {directory: /r}}",
            "storage.My_Bucket: \"My_Bucket\" is not taken: expected a bucket's name, 3 to 63 of a to z, 0 to 9, - and ."
        ),
        (
            "storage: {a: {bucket: my.bucket}, b: {bucket: my.bucket, directory: relative}}",
            "storage.a.bucket: another entry has a bucket of this name"
        ),
        (
            "advertise: {host: 'https://media.example'}",
            "advertise.host: \"https://media.example\" is not taken: expected a host name or an IP address alone"
        ),
        (
            "advertise: {host: 'media.example:8443'}",
            "advertise.host: \"media.example:8443\" is not taken: expected a host name or an IP address alone"
        ),
        ("storage: {abc: {directory: relative}}", "storage.abc.directory: is not taken: expected a path from /"),
        (
            "storage: {abc: {directory: /r, endpoint: 'http://s'}}",
            "storage.abc.directory: has no endpoint and no keys: a bucket is a folder or in a store"
        ),
        ("storage: {abc: {accessKey: A}}", "storage.abc.secretKey: is needed: the two come together"),
        (
            "storage: {abc: {endpoint: store:9000}}",
            "storage.abc.endpoint: \"store:9000\" is not taken: expected a URL that begins with http:// or https://"
        ),
    ])
    func `what is wrong is told with key, value and what is allowed`(_ yaml: String, _ problem: String) {
        #expect(problems(yaml).first == problem)
    }

    @Test(arguments: ["https://10.0.0.1", "http://127.0.0.1:8088/janus", "http://[::1]:8088", "http://localhost"])
    func `SRTP keys may go to https and to this machine`(_ url: String) {
        #expect(problems("routers: {a: {driver: announce, srtp: true, url: '\(url)'}}").isEmpty)
    }

    @Test(arguments: ["auto", "0.0.0.0", "'::'"])
    func `who advertises all addresses advertises those of the interfaces`(_ text: String) throws {
        let configuration = try ConfigurationLoader.load(yaml: "advertise: {addresses: [192.0.2.1, \(text)]}")
        #expect(configuration.advertise.addresses == [.address(IPAddress("192.0.2.1")!), .interfaces])
    }

    @Test func `an address in admin hosts may have the port that its requests name`() {
        #expect(problems("admin: {hosts: ['10.0.0.5:8088', '[2001:db8::1]:8088', console.example]}").isEmpty)
    }

    @Test(arguments: ["media.example", "my_host", "192.0.2.1", "2001:db8::1", "[2001:db8::1]"])
    func `URLs are made with a name or an address`(_ host: String) {
        #expect(problems("advertise: {host: '\(host)'}").isEmpty)
    }

    @Test(arguments: [
        "https: {listen: '10.0.0.1:443'}\nlisten: {shared: '10.0.0.2:443'}",
        "https: {listen: '10.0.0.1:443'}\nlisten: {shared: '[2001:db8::1]:443'}",
        "https: {listen: '0.0.0.0:443'}\nlisten: {shared: '[::1]:443'}",
        "http: {listen: ':0'}\nrtmp: {listen: ':0'}",
    ])
    func `two addresses have each port, and the kernel chooses others`(_ yaml: String) {
        #expect(problems(yaml).isEmpty)
    }

    @Test(arguments: ["webhooks:", "webhooks: {}", "webhooks: ~", "storage: {abc: }", "storage: {abc: {}}"])
    func `a map or an entry with nothing in it is taken`(_ yaml: String) {
        #expect(problems(yaml).isEmpty)
    }

    @Test(arguments: ["http:", "http:\n  # listen: off", "http: ~", "http: {}", "contract:\n  bFrames:"])
    func `a section whose keys are all commented out sets nothing`(_ yaml: String) throws {
        #expect(try ConfigurationLoader.load(yaml: yaml) == StagedoorConfiguration())
    }

    @Test(arguments: ["", "~", "null"])
    func `null is nothing, not a word`(_ null: String) throws {
        let yaml = "metrics: {token: \(null)}\nrecording: {directory: \(null)}\nadmin: {hosts: \(null)}"
        #expect(try ConfigurationLoader.load(yaml: yaml) == StagedoorConfiguration())
        #expect(problems("rtmp: {listen: \(null)}").first?.hasPrefix("rtmp.listen: \"\" is not taken") == true)
        #expect(try ConfigurationLoader.load(yaml: "recording: {directory: 'null'}").recording.directory == "null")
    }

    @Test func `everything wrong is told at once`() {
        let found = problems("rtmp: {listen: x, idleTimeout: y}\nhtpp: {listen: z}", ["STAGEDOOR_RTMP_LISTE": "off"])
        #expect(found.count == 4)
        #expect(found.contains("STAGEDOOR_RTMP_LISTE: unknown variable; did you mean STAGEDOOR_RTMP_LISTEN?"))
    }

    @Test(arguments: [
        "rtmp: {listen: off", "- a\n- b", "a: &x [*x]", "rtmp: {listen: off}\nrtmp: {listen: off}", "\t", "just text",
    ])
    func `what is no mapping is refused`(_ yaml: String) {
        #expect(!problems(yaml).isEmpty)
    }

    @Test func `secrets are never shown`() throws {
        #expect(!problems("webhooks: {a: {url: x, secret: [hidden]}}").joined().contains("hidden"))
        var configuration = StagedoorConfiguration()
        configuration.webhooks["a"] = WebhookSettings()
        configuration.webhooks["a"]?.secret = Secret("hidden")
        #expect(!configuration.effectiveFile.contains("hidden"))
        #expect(configuration.effectiveFile.contains("secret: redacted"))
    }

    @Test(arguments: ["http://user:hunter2@store.example/x", "http://hunter2@store.example", "ftp://user:hunter2@store.example"])
    func `a password in a URL is shown neither in force nor as refused`(_ url: String) {
        let yaml = "webhooks: {a: {url: '\(url)'}}"
        let shown = (try? ConfigurationLoader.load(yaml: yaml))?.effectiveFile ?? problems(yaml).joined()
        #expect(shown.contains("://redacted@store.example") && !shown.contains("hunter2"))
    }

    @Test(arguments: [
        ("https://hooks.example/x?key=hunter2#a", "https://hooks.example/x?redacted"),
        ("https://hooks.example?a@b", "https://hooks.example?redacted"),
        ("https://user:hunter2@hooks.example/?key=hunter2", "https://redacted@hooks.example/?redacted"),
    ])
    func `the query of a webhook's URL is not shown`(_ url: String, _ shown: String) throws {
        let file = try ConfigurationLoader.load(yaml: "webhooks: {a: {url: '\(url)'}}").effectiveFile
        #expect(file.contains("    url: \"\(shown)\"\n"), "\(file)")
    }

    @Test(arguments: ["http://store.example/a@b", "turn:host:3478?transport=udp", "a@b", ""])
    func `a text without a password is shown as it is`(_ text: String) {
        #expect(text.withoutCredentials == text)
    }

    @Test(arguments: ["@hunter2", "%hunter2", "*hunter2", "a: hunter2", "hunter2\u{7}"])
    func `what is no YAML is told by its place alone, as it may be a secret`(_ secret: String) throws {
        let problem = try #require(problems("cluster:\n  password: \(secret)\n").first)
        #expect(problem.hasPrefix("file: ") && !problem.contains("hunter2"))
    }

    @Test func `the place of what is no YAML is its line and column`() throws {
        let problem = try #require(problems("cluster:\n  password: @hunter2\n").first)
        #expect(problem.hasPrefix("file: line 2, column 13: "))
    }

    @Test func `a key written twice is named by its place, and nothing else of the file is shown`() {
        let yaml = "metrics:\n  token: hunter2\ncluster:\n  password: hunter3\n  password: hunter4\n"
        #expect(problems(yaml) == ["file: line 4, column 3: password is written twice"])
    }
}

@Suite("Configuration file")
struct ConfigurationFileTests {
    @Test func `a missing or unreadable file is named`() {
        #expect(throws: ConfigurationError(problems: [.init(key: "/nowhere/x.yaml", message: "No such file or directory")])) {
            try ConfigurationLoader.load(path: "/nowhere/x.yaml", environment: [:])
        }
        #expect(throws: ConfigurationError.self) { try ConfigurationLoader.load(path: "/dev/zero", environment: [:]) }
    }

    /// Docker makes a folder where a file to be mounted is missing.
    @Test func `what opens and cannot be read is no empty file`() throws {
        let folder = try TemporaryDirectory()
        for (path, message) in [(folder.path, "Is a directory"), ("/proc/self/mem", "Input/output error")] {
            #expect(throws: ConfigurationError(problems: [.init(key: path, message: message)])) {
                try ConfigurationLoader.load(path: path, environment: [:])
            }
        }
        withExtendedLifetime(folder) {}
    }
}

@Suite("Buckets of the configuration")
struct StorageConfigurationTests {
    @Test func `a bucket is called as its entry, or as it says`() throws {
        let storage = try ConfigurationLoader.load(
            yaml: "storage: {recordings: {directory: /r}, dotted: {bucket: my.bucket, region: eu-central-1}}",
            environment: ["STAGEDOOR_STORAGE_DOTTED_ACCESS_KEY": "A", "STAGEDOOR_STORAGE_DOTTED_SECRET_KEY": "hidden"]
        ).storage
        #expect(storage.bucket("recordings")?.directory == "/r")
        #expect(storage.bucket("my.bucket")?.region == "eu-central-1")
        #expect(storage.bucket("my.bucket")?.secretKey == Secret("hidden"))
        #expect(storage.bucket("dotted") == nil && storage.bucket("other") == nil)
    }

    @Test func `its secret is printed nowhere`() throws {
        let configuration = try ConfigurationLoader.load(yaml: "storage: {abc: {accessKey: A, secretKey: hidden}}")
        #expect(configuration.effectiveFile.contains("secretKey: redacted") && !configuration.effectiveFile.contains("hidden"))
    }
}

@Suite("Configuration of a cluster")
struct ClusterConfigurationTests {
    private static let whole =
        "cluster: {redis: [\"127.0.0.1:6379\", \"[::1]:6380\", cache.example:6381], platformKeyFile: /k, url: http://a:8080"

    @Test func `servers are addresses or names, each with its port`() throws {
        let cluster = try ConfigurationLoader.load(yaml: Self.whole + "}").cluster
        #expect(cluster.isConfigured)
        #expect(cluster.redis.map(\.text) == ["127.0.0.1:6379", "[::1]:6380", "cache.example:6381"])
        #expect(cluster.degraded == .refuse)
    }

    @Test(arguments: [
        ("cluster: {redis: [\"127.0.0.1:6379\"], url: http://a}", "cluster.platformKeyFile: is needed"),
        ("cluster: {redis: [\"127.0.0.1:6379\"], platformKeyFile: /k}", "cluster.url: is needed: neither"),
        (whole + ", topology: sentinel}", "cluster.primary: is needed by topology sentinel"),
        (whole + ", primary: p}", "cluster.primary: is for topology sentinel only"),
        (whole + ", user: u}", "cluster.user: has no cluster.password"),
        (whole + ", keyPrefix: \"{a}\"}", "cluster.keyPrefix: may hold no braces"),
        (whole + ", redisCertificateAuthority: /ca.pem}", "cluster.redisCertificateAuthority: does nothing without"),
        (whole + ", redisTLS: true, redisCertificate: /c}", "cluster.redisPrivateKey: is needed"),
        (whole + ", redisTLS: true, redisPrivateKey: /k}", "cluster.redisCertificate: is needed"),
        ("cluster: {redisTLS: true}", "cluster.redisTLS: does nothing without cluster.redis"),
        (whole + ", node: a-b}", "cluster.node: is not taken"),
        (
            whole + "}\nrouters: {a: {driver: static, host: 192.0.2.1, ports: 6000-6003}}",
            "routers.a.driver: static routers belong to one node"
        ),
        ("cluster: {platformKeyFile: /k}", "cluster.platformKeyFile: does nothing without cluster.redis"),
        ("cluster: {redis: [cache]}", "cluster.redis"), ("cluster: {redis: [\"a:0\"]}", "cluster.redis"),
    ])
    func `settings that contradict each other are told in words`(_ yaml: String, _ problem: String) {
        let found = problems(yaml)
        #expect(found.contains { $0.contains(problem) }, "\(found)")
    }
}
