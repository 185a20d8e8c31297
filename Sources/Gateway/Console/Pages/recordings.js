// What was recorded of a stage's participants: a list with a player.

import { list, question } from './api.js';
import { showDialog } from './dialogs.js';
import { make, put } from './dom.js';
import { perform } from './notices.js';
import { play } from './player.js';
import { parseSegments, parseVariants } from './playlist.js';
import { bytes, clock, span } from './units.js';

/** Sessions that are looked at, and recordings that are shown: the latest. */
const maximumSessions = 10;
const maximumRecordings = 20;
const styles = { ACTIVE: 'good', STARTING: 'good', STOPPING: 'warn', STOPPED: '', FAILED: 'bad' };

/** Shows what was recorded of a stage, newest first. */
export async function showRecordings(stage) {
  const found = await perform(() => recordings(stage));
  if (!found) return;
  const shown = found.map(item => makeRecording(stage, item));
  const cards = make('ul', { class: 'cards recordings', 'aria-label': 'Recordings' }, ...shown.map(({ card }) => card));
  const words = found.length ? 'The latest; all of them lie in the bucket.' : 'Nothing was recorded here yet.';
  const done = make('button', { type: 'button', class: 'primary', onclick: () => dialog.close() }, 'Done');
  const dialog = showDialog(`Recordings of ${stage.name || stage.id}`,
    make('div', {}, make('p', {}, words), cards, make('div', { class: 'actions' }, done)), { class: 'wide' });
  // One after the other: the gateway reads four of a store's files at once, and refuses more.
  for (const { card, tell } of shown) if (card.isConnected) await tell().catch(() => {});
}

async function recordings({ arn }) {
  const { stageSessions } = await question('ListStageSessions', { stageArn: arn, maxResults: maximumSessions });
  const found = [];
  for (const { sessionId } of stageSessions) {
    // Who only watches is a participant too: those may be thousands.
    const publishers = await list('ListParticipants', 'participants', { stageArn: arn, sessionId, filterByPublished: true });
    const recorded = publishers.filter(item => item.recordingState in styles).map(item => ({ ...item, sessionId }));
    found.push(...recorded.sort((one, other) => other.firstJoinTime.localeCompare(one.firstJoinTime)));
    if (found.length >= maximumRecordings) break;
  }
  return found.slice(0, maximumRecordings);
}

/** Its card, and a function that has it tell how long the recording is, for which two files of it are read. */
function makeRecording(stage, item) {
  const base = `/v1/stages/${stage.id}/sessions/${item.sessionId}/participants/${encodeURIComponent(item.participantId)}/recording`;
  const facts = make('small', {}, '…');
  const place = make('small', { class: 'mono' });
  const button = make('button', { type: 'button', class: 'quiet', 'aria-label': `Play ${item.participantId}`, onclick: () => start() }, 'Play');
  const card = make('li', {}, make('div', { class: 'head' }, make('b', { class: 'mono' }, item.participantId),
    make('span', { class: `chip dot ${styles[item.recordingState]}` }, item.recordingState.toLowerCase()),
    make('time', { datetime: item.firstJoinTime }, `${new Date(item.firstJoinTime).toLocaleDateString()} ${clock(item.firstJoinTime)}`),
    make('span', { class: 'actions' }, button)), facts, place, makeLinks(base, item));
  const start = () => {
    button.disabled = true;
    const video = make('video', { controls: '', playsinline: '', 'aria-label': `Recording of ${item.participantId}` });
    const fault = make('p', { class: 'fault', role: 'alert' });
    card.append(video, fault);
    video.addEventListener('error', () => { fault.textContent = video.error?.message || 'The browser cannot play it.'; });
    play(video, `${base}/media/hls/multivariant.m3u8`).catch(error => { fault.textContent = error.message; });
    video.play().catch(() => {});
  };
  question('GetParticipant', { stageArn: stage.arn, sessionId: item.sessionId, participantId: item.participantId })
    .then(({ participant }) => put(place, `${participant.recordingS3BucketName}/${participant.recordingS3Prefix}`), () => {});
  return { card, tell: () => describe(base, facts, button) };
}

function makeLinks(base, { recordingState }) {
  const isOver = recordingState === 'STOPPED' || recordingState === 'FAILED';
  const name = { STOPPED: 'recording-ended', FAILED: 'recording-failed' }[recordingState] ?? 'recording-started';
  const link = (path, words) => make('a', { href: `${base}/${path}`, target: '_blank', rel: 'noopener' }, words);
  return make('p', { class: 'links' }, link('media/hls/multivariant.m3u8', 'Playlist'), ' · ', link(`events/${name}.json`, isOver ? 'How it ended' : 'How it began'));
}

/** Length and size by its playlists; nothing is played where there are none. */
async function describe(base, facts, button) {
  const read = async url => {
    const response = await fetch(url, { credentials: 'same-origin', cache: 'no-store' });
    return response.ok ? response.text() : null;
  };
  const variant = parseVariants(await read(`${base}/media/hls/multivariant.m3u8`) ?? '');
  const media = variant && await read(`${base}/media/hls/${variant.uri}`);
  button.hidden = !media;
  const { duration } = parseSegments(media ?? '');
  put(facts, media ? `${span(duration)} · ${bytes(duration * variant.bytesPerSecond)} · ${variant.codecs}` : 'no segments');
}
