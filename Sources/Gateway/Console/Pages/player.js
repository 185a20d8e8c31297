// Plays a recording: by Media Source, and by the browser's own HLS where that is all it has (iPhones before iOS 17.1). Chromium 156's
// own was seen to stand still for two minutes in a recording that grew.

import { parseSegments, parseVariants } from './playlist.js';

/** Seconds that are there before and behind what is played. */
const ahead = 30;
const behind = 60;
/** Between two looks, in milliseconds, and looks between two of a playlist that grows. */
const pause = 250;
const looksBetween = 8;

/** @param url of the multivariant playlist. The player ends with its element. */
export async function play(video, url) {
  const place = new URL(url, location.href);
  const variant = parseVariants(await load(place, 'text'));
  const type = `video/mp4; codecs="${variant?.codecs}"`;
  const Source = window.ManagedMediaSource ?? window.MediaSource;
  if (variant && Source?.isTypeSupported(type)) return playByMediaSource(video, new Source(), type, new URL(variant.uri, place));
  if (!video.canPlayType('application/vnd.apple.mpegurl')) throw new Error('This browser does not play what was recorded.');
  video.src = url;
}

const once = (target, name) => new Promise(resolve => target.addEventListener(name, resolve, { once: true }));

async function load(url, kind) {
  const response = await fetch(url, { credentials: 'same-origin' });
  if (!response.ok) throw new Error(`A part of the recording cannot be read (HTTP ${response.status}).`);
  return kind === 'text' ? response.text() : response.arrayBuffer();
}

async function playByMediaSource(video, source, type, url) {
  video.src = URL.createObjectURL(source);
  video.disableRemotePlayback = true;
  await once(source, 'sourceopen');
  await feed(video, source, source.addSourceBuffer(type), url);
}

/** Brings the segments that are needed where the video is, until it is off the page. */
async function feed(video, source, buffer, url) {
  let [playlist, map, looks] = [parseSegments(await load(url, 'text')), '', 0];
  const there = new Set();
  const change = async step => {
    step();
    if (buffer.updating) await once(buffer, 'updateend');
  };
  source.duration = playlist.duration;
  while (video.isConnected) {
    const now = video.currentTime;
    const next = playlist.segments.find(segment => !there.has(segment.uri) && segment.end > now && segment.start < now + ahead);
    if (next) {
      if (next.map !== map) {
        const bytes = await load(new URL(next.map, url));
        await change(() => buffer.appendBuffer(bytes));
        map = next.map;
      }
      const bytes = await load(new URL(next.uri, url));
      await change(() => buffer.appendBuffer(bytes));
      there.add(next.uri);
      await forget(playlist, there, now, end => change(() => buffer.remove(0, end)));
      continue;
    }
    passGap(video);
    if (playlist.hasEnded && there.size === playlist.segments.length && source.readyState === 'open') source.endOfStream();
    await new Promise(resolve => setTimeout(resolve, pause));
    if (playlist.hasEnded || ++looks % looksBetween) continue;
    playlist = parseSegments(await load(url, 'text'));
    if (source.readyState === 'open' && playlist.duration > source.duration) source.duration = playlist.duration;
  }
}

/** What was played long ago makes room; who goes back there has it brought again. */
async function forget(playlist, there, now, remove) {
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
