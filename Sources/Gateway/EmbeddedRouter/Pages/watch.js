// The watch page: server-sent events say who is live on the stage, a Viewer brings each one's picture and sound.
// The token stands in the URL's fragment, which no server and no log ever sees; it is sent as Bearer alone.
// Nothing is asked for by a path from the root: a proxy may have put one of its own before the page's.
import { Viewer } from "./viewer.js";

const stageId = decodeURIComponent(location.pathname.split("/").at(-1));
const token = new URLSearchParams(location.hash.slice(1)).get("token");
const headers = { Authorization: `Bearer ${token}` };
const element = id => document.getElementById(id);
const viewers = new Map();
/// Milliseconds. The gateway tells its clock every 5 s: after so long without a word it, or the way to it, is gone.
const LONGEST_SILENCE = 15000;

// The gateway's clock less ours. An event is late by its way, never early: of the last samples the greatest is the best.
const clock = {
  samples: [],
  note(now) { this.samples = [...this.samples.slice(-11), now - Date.now()]; },
  get now() { return Date.now() + Math.max(...this.samples); },
};

function say(text) { element("state").textContent = text; }

function count() {
  element("empty").hidden = viewers.size > 0;
  say(viewers.size === 1 ? "1 live" : `${viewers.size} live`);
}

const events = {
  welcome({ now }) {
    clock.note(now);
    for (const id of [...viewers.keys()]) events.left({ participantId: id });
    count();
  },
  present(participant) {
    let viewer = viewers.get(participant.participantId);
    if (viewer) return viewer.update(participant);
    const figure = element("participant").content.firstElementChild.cloneNode(true);
    element("participants").append(figure);
    viewer = new Viewer(stageId, participant, figure, { headers, clock });
    viewer.video.muted = element("sound").ariaPressed !== "true";
    viewers.set(participant.participantId, viewer);
    count();
  },
  left({ participantId }) {
    viewers.get(participantId)?.stop();
    viewers.delete(participantId);
    count();
  },
  clock({ now }) { clock.note(now); },
  // A page whose place a newer one has taken must not take that one's in turn.
  refused({ code, detail }) { throw Object.assign(new Error(detail), { isFinal: code === "SD-1141" }); },
};

/// Reads one stream of events to its end. EventSource cannot send a token; fetch can.
async function listen(signal, heard) {
  const response = await fetch(`${encodeURIComponent(stageId)}/events`, { headers, signal });
  // Another token may do.
  element("door").hidden = ![401, 403].includes(response.status);
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).detail ?? `The gateway said ${response.status}.`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    heard();
    const blocks = (text + value).split("\n\n");
    text = blocks.pop();
    blocks.forEach(handle);
  }
}

/// Gives up a stream that says nothing: who only reads is not told that the other side is gone.
async function listenUntilSilent() {
  const stop = new AbortController();
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => stop.abort(), LONGEST_SILENCE);
  };
  heard();
  try { await listen(stop.signal, heard); } finally { clearTimeout(timer); }
}

function handle(block) {
  const fields = new Map(block.split("\n").map(line => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
  events[fields.get("event")]?.(JSON.parse(fields.get("data")));
}

/// What fetch says of a connection that failed, or was given up, is each browser's own, and for programmers.
const isAway = error => error instanceof TypeError || error.name === "AbortError";

/// What is seen stays while the events are away: media does not go through them.
async function follow() {
  for (let failures = 0; ; failures++) {
    const start = Date.now();
    try {
      await listenUntilSilent();
    } catch (error) {
      say(isAway(error) ? "The gateway does not answer. Trying again." : error.message);
      if (error.isFinal) return;
    }
    if (Date.now() - start > 10_000) failures = 0;
    await new Promise(resolve => setTimeout(resolve, Math.min(1000 * 2 ** failures, 15_000)));
  }
}

// MARK: Keyboard and buttons

function toggleSound() {
  const isOn = element("sound").ariaPressed !== "true";
  element("sound").ariaPressed = String(isOn);
  for (const { video } of viewers.values()) video.muted = !isOn;
}

function move(step) {
  const figures = [...document.querySelectorAll("figure")];
  const index = figures.indexOf(document.activeElement);
  figures.at(index < 0 ? 0 : (index + step) % figures.length)?.focus();
}

const keys = {
  ArrowRight: () => move(1),
  ArrowLeft: () => move(-1),
  Enter: focused => focused && (document.fullscreenElement ? document.exitFullscreen() : focused.video.requestFullscreen()),
  m: focused => { if (focused) focused.video.muted = !focused.video.muted; },
  s: toggleSound,
  q: focused => focused?.quality.focus(),
  "?": () => element("keys").showModal(),
};

addEventListener("keydown", event => {
  if (event.ctrlKey || event.altKey || event.metaKey || element("keys").open || event.target.closest("input, button, select")) return;
  if (!(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]([...viewers.values()].find(viewer => viewer.figure === document.activeElement));
});
element("sound").addEventListener("click", toggleSound);
element("help").addEventListener("click", keys["?"]);
element("door").addEventListener("submit", event => {
  event.preventDefault();
  location.hash = new URLSearchParams({ token: element("token").value.trim() });
});
addEventListener("hashchange", () => location.reload());
addEventListener("pagehide", () => { for (const viewer of viewers.values()) viewer.stop(); });

element("stage").textContent = stageId;
document.title = `Stage ${stageId}`;
setInterval(() => { for (const viewer of viewers.values()) viewer.measure(); }, 1000);
if (token) {
  follow();
} else {
  element("door").hidden = false;
  say("A token is missing.");
}
