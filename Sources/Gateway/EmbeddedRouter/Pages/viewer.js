// One participant's picture and sound: a WHEP session that is made again when it is lost, and what it measures.

const MILLISECONDS_FROM_1900_TO_1970 = 2_208_988_800_000;
const LONGEST_WAIT = 8000;

/// Chromium and Safari play Opus in one channel where their own offer does not ask for two (RFC 7587 6.1).
const inStereo = ({ type, sdp }) =>
  ({ type, sdp: sdp.replace(/^a=fmtp:.*useinbandfec=1.*$/m, line => line.includes("stereo=") ? line : `${line};stereo=1`) });

/// The two lines of ICE credentials, in a description or a fragment of one.
const credentials = sdp => ["ufrag", "pwd"].map(name => sdp.match(new RegExp(`^a=ice-${name}:.*$`, "m"))[0]);

export class Viewer {
  /// figure is a copy of the page's template; clock.now is the gateway's.
  constructor(stageId, participant, figure, { headers, clock }) {
    Object.assign(this, { stageId, figure, headers, clock, video: figure.querySelector("video"), isStopped: false, failures: 0, looks: 0 });
    this.quality = figure.querySelector("select");
    this.quality.addEventListener("change", () => this.choose(this.quality.value));
    this.update(participant);
    this.start();
  }

  /// Another publish of the same participant, or a track muted.
  update(participant) {
    this.participant = participant;
    const name = participant.userId || participant.participantId;
    this.show("name", name);
    this.show("protocol", participant.protocol);
    this.figure.setAttribute("aria-label", name);
    this.figure.dataset.participant = participant.participantId;
    const badge = this.figure.querySelector(".muted");
    badge.hidden = participant.muted.length === 0;
    badge.textContent = `${participant.muted.join(" and ")} muted`;
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.retry);
    this.hangUp();
    this.figure.remove();
  }

  async start() {
    try {
      await this.connect();
    } catch (error) {
      this.again(error instanceof TypeError ? "The gateway does not answer. Trying again." : error.message);
    }
  }

  async connect() {
    const peer = this.peer = new RTCPeerConnection();
    const stream = new MediaStream();
    peer.ontrack = ({ track, receiver }) => {
      receiver.jitterBufferTarget = 0;
      const play = () => {
        stream.addTrack(track);
        if (this.video.srcObject !== stream) this.video.srcObject = stream;
      };
      // Browsers play no sound beside a picture that has not begun: its publisher may send sound alone.
      if (track.muted) track.addEventListener("unmute", play, { once: true }); else play();
    };
    peer.onconnectionstatechange = () => this.changed(peer);
    peer.addTransceiver("video", { direction: "recvonly" });
    peer.addTransceiver("audio", { direction: "recvonly" });
    await peer.setLocalDescription(inStereo(await peer.createOffer()));
    const wish = this.quality.value ? `?layer=${this.quality.value}` : "";
    const path = `../whep/${encodeURIComponent(this.stageId)}/${encodeURIComponent(this.participant.participantId)}${wish}`;
    const response = await fetch(path, {
      method: "POST", body: peer.localDescription.sdp, headers: { ...this.headers, "Content-Type": "application/sdp" },
    });
    if (response.status !== 201) throw new Error((await response.json().catch(() => ({}))).detail ?? `Status ${response.status}`);
    this.session = response.headers.get("Location");
    if (this.isStopped) return this.hangUp();
    this.answer = await response.text();
    await peer.setRemoteDescription({ type: "answer", sdp: this.answer });
    // The gateway's close_notify shows here at once, in the connection's state only when its checks go unanswered.
    const { transport } = peer.getReceivers()[0];
    transport?.addEventListener("statechange", () => {
      if (peer === this.peer && ["closed", "failed"].includes(transport.state)) this.again("The connection was lost.");
    });
  }

  changed(peer) {
    if (peer !== this.peer) return;
    if (peer.connectionState === "connected") {
      this.failures = 0;
      this.trouble("");
    } else if (peer.connectionState === "disconnected") {
      peer.restarting ??= this.restart(peer).catch(() => {}).finally(() => peer.restarting = undefined);
    } else if (["failed", "closed"].includes(peer.connectionState)) {
      this.again("The connection was lost.");
    }
  }

  /// The network has changed: the session goes on by another way, with new ICE credentials (RFC 9725 4.3.3).
  async restart(peer) {
    while (peer === this.peer && peer.connectionState === "disconnected") {
      peer.restartIce();
      await peer.setLocalDescription(inStereo(await peer.createOffer()));
      const response = await fetch(this.session, {
        method: "PATCH", body: credentials(peer.localDescription.sdp).map(line => `${line}\r\n`).join(""),
        headers: { ...this.headers, "Content-Type": "application/trickle-ice-sdpfrag", "If-Match": "*" },
        signal: AbortSignal.timeout(5000),
      }).catch(() => undefined);
      if (peer !== this.peer) return;
      if (response?.status === 404) return this.again("The connection was lost.");
      if (response?.status === 200) {
        const [ufrag, password] = credentials(await response.text());
        this.answer = this.answer.replace(/^a=ice-ufrag:.*$/gm, ufrag).replace(/^a=ice-pwd:.*$/gm, password);
        return peer.setRemoteDescription({ type: "answer", sdp: this.answer });
      }
      // There is no network yet. Should the answer have been lost, the next credentials are new again.
      await new Promise(resolve => setTimeout(resolve, 1000));
    }
  }

  /// Tries once more, later each time: whoever has left is taken off the page by the events.
  again(reason) {
    this.hangUp();
    if (this.isStopped) return;
    this.trouble(reason);
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.start(), Math.min(500 * 2 ** this.failures++, LONGEST_WAIT));
  }

  hangUp() {
    const { peer, session } = this;
    this.peer = this.session = this.last = undefined;
    peer?.close();
    if (session) fetch(session, { method: "DELETE", headers: this.headers, keepalive: true }).catch(() => {});
  }

  // MARK: Layers

  /// Asks for a layer, by the WHEP layer extension; an empty name leaves the choice to the gateway.
  async choose(name) {
    if (!this.session) return;
    const body = name ? JSON.stringify({ encodingId: name }) : undefined;
    await this.layerRequest({ method: name ? "POST" : "DELETE", body });
  }

  async layerRequest(options) {
    const headers = { ...this.headers, "Content-Type": "application/json" };
    const response = await fetch(`${this.session}/layer`, { ...options, headers }).catch(() => undefined);
    if (response?.ok) this.showLayers(Object.values(await response.json())[0]);
  }

  showLayers(media) {
    if (!media) return;
    const layers = [...media.active, ...media.inactive];
    const isLayered = layers.length > 1;
    this.quality.parentElement.hidden = this.figure.querySelector(".layers").hidden = !isLayered;
    if (!isLayered) return;
    const name = media.current ?? (media.chosen === null ? "sound alone" : media.chosen ?? "–");
    this.show("layer", media.reason ? `${name} (${media.reason})` : name);
    // Options are put in order anew only when there are others: who has the list open keeps it.
    const options = layers.map(({ encodingId, width, height }) => [encodingId, `${encodingId}: ${width} × ${height}`]);
    if (this.options !== String(options)) {
      this.options = String(options);
      this.quality.replaceChildren(new Option("Automatic", ""), ...options.map(([value, text]) => new Option(text, value)));
    }
    if (document.activeElement !== this.quality) this.quality.value = media.wish === "automatic" ? "" : media.wish;
  }

  // What the browser measured since the last call. The layers are asked for: a stream of events would hold, for each picture, one
  // of the six connections that browsers make to a host.
  async measure() {
    const peer = this.peer;
    if (peer?.connectionState !== "connected") return;
    if (this.looks++ % 2 === 0) this.layerRequest({ method: "GET" });
    const reports = [...(await peer.getStats()).values()];
    const [video, audio] = ["video", "audio"].map(kind => reports.find(r => r.type === "inbound-rtp" && r.kind === kind) ?? {});
    const now = {
      time: video.timestamp ?? audio.timestamp,
      bytes: (video.bytesReceived ?? 0) + (audio.bytesReceived ?? 0),
      lost: (video.packetsLost ?? 0) + (audio.packetsLost ?? 0),
      received: (video.packetsReceived ?? 0) + (audio.packetsReceived ?? 0),
      frames: video.framesDecoded ?? 0,
    };
    this.showLevel(audio.audioLevel ?? 0);
    this.show("size", this.video.videoWidth ? `${this.video.videoWidth} × ${this.video.videoHeight}` : "–");
    this.show("latency", this.latency(video, reports));
    if (this.last) this.showRates(now, this.last);
    this.last = now;
  }

  showRates(now, last) {
    const seconds = (now.time - last.time) / 1000;
    if (!(seconds > 0)) return;
    const lost = Math.max(0, now.lost - last.lost);
    const expected = lost + now.received - last.received;
    this.show("frames", `${((now.frames - last.frames) / seconds).toFixed(0)} /s`);
    this.show("bitrate", `${((now.bytes - last.bytes) * 8 / seconds / 1e6).toFixed(2)} Mbit/s`);
    this.show("loss", expected ? `${(100 * lost / expected).toFixed(1)} %` : "–");
  }

  /// From the gateway's timeline to the screen, by its sender reports; what the receive buffer holds where there are none yet.
  latency(video, reports) {
    const played = video.estimatedPlayoutTimestamp;
    if (played) {
      const unix = played > MILLISECONDS_FROM_1900_TO_1970 ? played - MILLISECONDS_FROM_1900_TO_1970 : played;
      return `${Math.max(0, this.clock.now - unix).toFixed(0)} ms`;
    }
    if (!video.jitterBufferEmittedCount) return "–";
    const pair = reports.find(report => report.type === "candidate-pair" && report.nominated);
    const buffer = 1000 * video.jitterBufferDelay / video.jitterBufferEmittedCount;
    return `≈ ${(buffer + 500 * (pair?.currentRoundTripTime ?? 0)).toFixed(0)} ms`;
  }

  /// Browsers measure no level of what is muted.
  showLevel(level) {
    const meter = this.figure.querySelector(".level");
    meter.hidden = this.video.muted;
    meter.value = level;
    this.figure.querySelector(".silent").hidden = !this.video.muted;
  }

  trouble(text) {
    const place = this.figure.querySelector(".trouble");
    place.hidden = !text;
    place.textContent = text;
  }

  show(name, text) { this.figure.querySelector(`.${name}`).textContent = text; }
}
