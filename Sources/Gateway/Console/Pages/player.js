// Plays a recording: by Media Source, and by the browser's own HLS where that is all it has (iPhones before iOS 17.1). Chromium 156's
// own was seen to stand still for two minutes in a recording that grew.

import { parseSegments, parseVariants } from './playlist.js';

/** Seconds that are there before and behind what is played. */
const ahead = 30;
const behind = 60;
/** Between two looks, in milliseconds, and looks between two of a playlist that grows. */
const pause = 250;
const looksBetween = 8;

/** Seconds before the end of what one source has, at which the next takes over; and how far behind a boundary that one begins. */
const nearly = 0.25;
const behindBoundary = 0.01;

/** @param url of the multivariant playlist. The player ends with its element. */
export async function play(video, url) {
  const place = new URL(url, location.href);
  const variant = parseVariants(await load(place, 'text'));
  const Source = window.ManagedMediaSource ?? window.MediaSource;
  if (variant && Source?.isTypeSupported(`video/mp4; codecs="${variant.codecs}"`)) return feed(video, Source, new URL(variant.uri, place));
  if (!video.canPlayType('application/vnd.apple.mpegurl')) throw new Error('This browser does not play what was recorded.');
  video.src = url;
}

const once = (target, name) => new Promise(resolve => target.addEventListener(name, resolve, { once: true }));

async function load(url, kind) {
  const response = await fetch(url, { credentials: 'same-origin' });
  if (!response.ok) throw new Error(`A part of the recording cannot be read (HTTP ${response.status}).`);
  return kind === 'text' ? response.text() : response.arrayBuffer();
}

/** Brings the segments that are needed where the video is, until it is off the page. */
async function feed(video, Source, url) {
  let [playlist, source, looks] = [parseSegments(await load(url, 'text')), null, 0];
  const maps = new Map();
  while (video.isConnected) {
    const now = video.currentTime;
    const next = playlist.segments.find(segment => !source?.there.has(segment.uri) && segment.end > now && segment.start < now + ahead);
    if (next && !maps.has(next.map)) maps.set(next.map, describe(await load(new URL(next.map, url))));
    const map = next && maps.get(next.map);
    if (next && map.kinds === source?.kinds) {
      await source.append(map.bytes, await load(new URL(next.uri, url)));
      source.there.add(next.uri);
      await forget(playlist, source, now);
      continue;
    }
    if (next && reserve(video, next.start) < nearly) {
      source = await openSource(video, Source, map, now < next.start ? next.start + behindBoundary : now, playlist.duration);
      continue;
    }
    passGap(video);
    if (playlist.hasEnded && source?.there.has(playlist.segments.at(-1)?.uri)) source.end();
    await new Promise(resolve => setTimeout(resolve, pause));
    if (playlist.hasEnded || ++looks % looksBetween) continue;
    playlist = parseSegments(await load(url, 'text'));
    source?.grow(playlist.duration);
  }
}

/**
 * What an initialization segment says of its tracks (RFC 6381). A buffer takes one with another picture size, but none with other
 * kinds of tracks: a camera that came on later, or sound alone after a return, needs a source of its own.
 */
function describe(bytes) {
  const text = new TextDecoder('latin1').decode(bytes);
  const record = text.indexOf('avcC');
  const profile = [...new Uint8Array(bytes).slice(record + 5, record + 8)].map(byte => byte.toString(16).padStart(2, '0')).join('');
  const codecs = [record >= 0 && `avc1.${profile}`, text.includes('mp4a') && 'mp4a.40.2', text.includes('dOps') && 'opus'].filter(Boolean);
  return { bytes, type: `video/mp4; codecs="${codecs.join()}"`, kinds: codecs.map(name => name.split('.')[0]).join() };
}

/** The video goes on at `time` with a source for tracks of these kinds. */
async function openSource(video, Source, { type, kinds }, time, duration) {
  const [source, { paused, playbackRate }] = [new Source(), video];
  video.src = URL.createObjectURL(source);
  video.disableRemotePlayback = true;
  if (time > 0) video.currentTime = time;
  video.playbackRate = playbackRate;
  if (!paused) video.play().catch(() => {});
  await once(source, 'sourceopen');
  URL.revokeObjectURL(video.src);
  const buffer = source.addSourceBuffer(type);
  source.duration = duration;
  const change = async step => {
    step();
    if (buffer.updating) await once(buffer, 'updateend');
  };
  let former = null;
  return {
    kinds,
    there: new Set(),
    async append(map, bytes) {
      if (map !== former) await change(() => buffer.appendBuffer(map));
      former = map;
      await change(() => buffer.appendBuffer(bytes));
    },
    remove: end => change(() => buffer.remove(0, end)),
    grow(seconds) { if (source.readyState === 'open' && seconds > source.duration) source.duration = seconds; },
    end() { if (source.readyState === 'open') source.endOfStream(); },
  };
}

/** Seconds from here on that can be played before `limit`. */
function reserve(video, limit) {
  let end = video.currentTime;
  for (let index = 0; index < video.buffered.length; index++) {
    if (video.buffered.start(index) < limit) end = Math.max(end, Math.min(limit, video.buffered.end(index)));
  }
  return end - video.currentTime;
}

/** What was played long ago makes room; who goes back there has it brought again. */
async function forget(playlist, { there, remove }, now) {
  const old = playlist.segments.filter(segment => there.has(segment.uri) && segment.end < now - behind);
  if (old.length === 0) return;
  await remove(old.at(-1).end);
  for (const segment of old) there.delete(segment.uri);
}

/** Sound and pictures may be missing for a moment: what is a little later goes on. */
function passGap(video) {
  if (video.paused || video.readyState > 2) return;
  for (let index = 0; index < video.buffered.length; index++) {
    const start = video.buffered.start(index);
    if (start > video.currentTime && start < video.currentTime + 2) video.currentTime = start + 0.01;
  }
}
