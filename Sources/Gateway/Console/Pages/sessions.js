// The sessions of a stage: a table with curves, and each one's story.

import { keyed, make, put } from './dom.js';
import { makeLayerChips, makeLayers, rememberLayers, showLayerChips, showLayers } from './layers.js';
import { makeSource, showSource } from './redundant.js';
import { makeRules, showRules } from './rules.js';
import { History, draw, sparkline } from './sparkline.js';
import { makeThumbnail, showThumbnail } from './thumbnails.js';
import { between, bits, percent, span, words } from './units.js';

const curves = new Map();

function curvesOf(id) {
  if (!curves.has(id)) curves.set(id, { bitrate: new History(), frames: new History(), loss: new History(), roundTrip: new History(), layers: new Map() });
  return curves.get(id);
}

/** Adds a second to the curves of those that are live, and forgets the others. */
export function remember(sessions) {
  const alive = new Set(sessions.map(session => session.sessionId));
  for (const id of curves.keys()) if (!alive.has(id)) curves.delete(id);
  for (const session of sessions) {
    const { sessionId, now } = session;
    if (!now) continue;
    const history = curvesOf(sessionId);
    rememberLayers(history.layers, session);
    history.bitrate.add(now.videoBitsPerSecond + now.audioBitsPerSecond);
    history.frames.add(now.framesPerSecond);
    history.loss.add(now.lossRatio);
    history.roundTrip.add(now.roundTripMilliseconds ?? 0);
  }
}

/** An empty table. */
export function makeSessions() {
  const heads = ['Participant', 'From', 'Picture', 'Bitrate', 'Frame rate', 'Loss', 'Round trip', 'Since', ''];
  const headRow = make('tr', {}, ...heads.map(head => make('th', { scope: 'col' }, head)));
  return make('div', { class: 'scroll' }, make('table', { 'aria-label': 'Publishers' }, make('thead', {}, headRow), make('tbody')));
}

/** @param table what `makeSessions` made. */
export function showSessions(table, sessions, { limits, node, redundant, thumbnailSeconds }, actions) {
  table.hidden = sessions.length === 0;
  const rows = sessions.flatMap(session => [{ session, kind: 'session' }, { session, kind: 'story' }]);
  keyed(table.querySelector('tbody'), rows, row => `${row.kind} ${row.session.sessionId}`,
    row => row.kind === 'session' ? makeSession(row.session, actions) : makeStory(row.session),
    (line, row) => row.kind === 'session' ? updateSession(line, row.session, { limits, node, redundant, thumbnailSeconds })
      : updateStory(line, row.session));
}

const gauge = label => make('td', { class: 'gauge' }, make('span', { class: 'now' }, '–'), sparkline(label));

function makeSession(session, actions) {
  const story = make('button', { type: 'button', class: 'quiet', 'aria-expanded': 'false', onclick: event => {
    const row = event.currentTarget.closest('tr').nextElementSibling;
    row.hidden = !row.hidden;
    event.currentTarget.setAttribute('aria-expanded', String(!row.hidden));
  } }, 'Story');
  const cut = make('button', {
    type: 'button', class: 'quiet cut', 'data-rights': 'ivs:DisconnectParticipant', onclick: () => actions.disconnect(session),
  }, 'Disconnect');
  return make('tr', { class: 'session' },
    make('td', { class: 'who' }, make('b', { class: 'mono', title: session.participantId }, session.participantId),
      make('small', {}, [session.process && 'in the older process', session.replicaOf && `replica of ${session.replicaOf.split('/').pop()}`, session.userId, session.userAgent].filter(Boolean).join(' · ') || 'agent unknown')),
    make('td', { class: 'who' }, make('span', { class: 'chip' }, session.protocol), make('span', { class: 'chip warn health' }),
      makeSource(actions), make('small', { class: 'mono' }, session.source)),
    make('td', { class: 'picture' }, makeThumbnail(session.participantId), make('span', { class: 'now' }, '–'), makeLayerChips()),
    gauge('Bitrate'), gauge('Frame rate'), gauge('Loss'), gauge('Round trip'),
    make('td', { class: 'since' }), make('td', {}, story, cut));
}

function updateSession(row, session, { limits, node, redundant, thumbnailSeconds }) {
  showSource(row.querySelector('.source'), session, redundant);
  const { now } = session;
  showHealth(row.querySelector('.health'), now?.encoder);
  showThumbnail(row.querySelector('.thumbnail'), session, thumbnailSeconds);
  put(row.querySelector('.since'), span(between(session.began, node.time)));
  if (!now) return;
  const isSoundAlone = now.videoBitsPerSecond === 0 && now.audioBitsPerSecond > 0;
  put(row.querySelector('.picture .now'), isSoundAlone ? 'audio alone' : now.picture?.replace('x', '\u2009×\u2009') ?? '–');
  showLayerChips(row.querySelector('.layer-chips'), session);
  const history = curvesOf(session.sessionId);
  const [bitrate, frames, loss, roundTrip] = row.querySelectorAll('.gauge');
  const isMeasured = session.protocol === 'WHIP';
  show(bitrate, bits(now.videoBitsPerSecond + now.audioBitsPerSecond), history.bitrate, { ceiling: 500_000, limit: limits.videoBitsPerSecond });
  show(frames, `${now.framesPerSecond.toFixed(1)} /s`, history.frames, { ceiling: 30 });
  show(loss, isMeasured ? percent(now.lossRatio, now.lossRatio > 0 && now.lossRatio < 0.1 ? 1 : 0) : 'TCP', history.loss, { ceiling: 0.05 });
  loss.querySelector('.now').classList.toggle('none', !isMeasured);
  loss.querySelector('svg').toggleAttribute('hidden', !isMeasured);
  const known = now.roundTripMilliseconds;
  show(roundTrip, known === undefined ? '–' : `${known < 10 ? known.toFixed(1) : Math.round(known)} ms`, history.roundTrip, { ceiling: 20 });
}

/** What the encoder's program says that it loses. */
function showHealth(chip, encoder) {
  const culprits = { rendering: 'renders too late', encoding: 'skips frames', uplink: 'drops frames' };
  chip.hidden = !encoder?.culprit;
  put(chip, culprits[encoder?.culprit] ?? '');
  chip.title = encoder?.verdict ?? '';
}

function show(cell, text, history, scale) {
  put(cell.querySelector('.now'), text);
  draw(cell.querySelector('svg'), history, scale);
}

function makeStory() {
  const row = make('tr', { class: 'story' }, make('td', { colspan: '9' }, make('ol', { class: 'steps', 'aria-label': 'Steps' }), makeLayers(), make('dl', { class: 'facts' }), makeRules()));
  row.hidden = true;
  return row;
}

function updateStory(row, session) {
  if (row.hidden) return;
  showSteps(row.querySelector('.steps'), session.story.steps);
  showLayers(row.querySelector('.layers'), session, curvesOf(session.sessionId).layers);
  showRules(row.querySelector('.rules'), session.sessionId);
  const { totals } = session;
  const facts = [
    ['session', session.sessionId], ['stage session', session.stageSessionId], ['received', `${(totals.bytes / 1e6).toFixed(1)} MB in ${totals.packets} packets`],
    ['frames', String(totals.videoFrames)], ['lost', String(totals.lostPackets)], ['brought again', String(totals.recoveredPackets)],
    ...encoderFacts(session), ...switchFacts(session.story), ...session.story.warnings.map(warning => [`warned of ${words(warning.rule)}`, warning.sentence]),
  ];
  keyed(row.querySelector('.facts'), facts, fact => fact[0],
    fact => make('div', {}, make('dt', {}, fact[0]), make('dd', { class: 'mono' })), (element, fact) => put(element.lastChild, fact[1]));
}

function encoderFacts({ encoder, now }) {
  if (!encoder) return [];
  const { rendered, lagged, input, skipped, output, dropped } = encoder;
  return [
    ['rendered', `${rendered}, ${lagged} too late`], ['to encode', `${input}, ${skipped} skipped`], ['to send', `${output}, ${dropped} dropped`],
    ['the last minute', now?.encoder?.verdict ?? '–'],
  ];
}

/** Of a participant of two encoders: the latest ones last. */
const switchFacts = ({ switches = [] }) => switches.map(({ time, encoder, reason, gapMilliseconds }) =>
  [`encoder ${encoder} at ${time}`, `${words(reason)}${gapMilliseconds === undefined ? '' : `, a gap of ${gapMilliseconds} ms`}`]);

function showSteps(list, steps) {
  keyed(list, steps, step => `${step.step} ${step.time}`, step => make('li', {}, words(step.step), make('time', { datetime: step.time }, `+${step.milliseconds} ms`)));
}
