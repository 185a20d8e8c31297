// What the console shows. Every text from outside goes in as text, never as markup.

import { History, draw, sparkline } from './sparkline.js';

const $ = id => document.getElementById(id);

/** An element with attributes, and children that are elements or texts. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'onclick') element.addEventListener('click', value); else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

const put = (element, text) => { if (element.textContent !== text) element.textContent = text; };

/** Keeps one element per item, so that focus and open stories outlive a refresh. */
function keyed(container, items, key, create, update) {
  const old = new Map([...container.children].map(child => [child.dataset.key, child]));
  let place = container.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    let element = old.get(name);
    old.delete(name);
    if (!element) {
      element = create(item);
      element.dataset.key = name;
    }
    if (element === place) place = place.nextElementSibling; else container.insertBefore(element, place);
    update?.(element, item);
  }
  for (const element of old.values()) element.remove();
}

const bits = value => value >= 999_500 ? `${(value / 1e6).toFixed(2)} Mbit/s` : `${Math.round(value / 1e3)} kbit/s`;
const bytes = value => value >= 1 << 30 ? `${(value / (1 << 30)).toFixed(1)} GiB` : `${Math.round(value / (1 << 20))} MiB`;
const percent = (value, places = 0) => `${(value * 100).toFixed(places)} %`;
const clock = time => new Date(time).toLocaleTimeString([], { hour12: false });
const pad = number => String(number).padStart(2, '0');
const span = seconds => seconds >= 3600
  ? `${Math.floor(seconds / 3600)}:${pad(Math.floor(seconds / 60) % 60)}:${pad(Math.floor(seconds) % 60)}`
  : `${Math.floor(seconds / 60)}:${pad(Math.floor(seconds) % 60)}`;
const between = (begin, end) => Math.max(0, (Date.parse(end) - Date.parse(begin)) / 1000);
const words = step => step.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().replace(/\b(rtp|idr|dtls)\b/g, word => word.toUpperCase());

// --- This node

const nodeHistory = { live: new History(), cpu: new History(), lag: new History(), memory: new History(), descriptors: new History() };

function tile(id, title) {
  const element = make('div', { class: 'tile', id: `tile-${id}` }, make('h3', {}, title),
    make('p', { class: 'value' }), make('small'), sparkline(`${title}, last two minutes`));
  $('tiles').append(element);
  return element;
}

function showTile(id, title, value, detail, history, scale) {
  const element = $(`tile-${id}`) ?? tile(id, title);
  put(element.querySelector('.value'), value);
  put(element.querySelector('small'), detail);
  draw(element.querySelector('svg'), history, scale);
}

export function showNode({ node, limits, liveSessions }) {
  nodeHistory.live.add(liveSessions);
  nodeHistory.cpu.add(node.cpu);
  nodeHistory.lag.add(node.loopLagMilliseconds);
  nodeHistory.memory.add(node.memoryBytes);
  nodeHistory.descriptors.add(node.descriptors);
  const most = limits.maximumPublishers;
  showTile('live', 'Live publishes', String(liveSessions), most ? `of at most ${most}` : `at most ${limits.publishersPerStage} a stage`,
    nodeHistory.live, { ceiling: 4, limit: most });
  showTile('cpu', 'CPU', percent(node.cpu), `of ${node.grantedCPUs} CPUs, refuses at ${percent(limits.cpu)}`,
    nodeHistory.cpu, { ceiling: 0.1, limit: limits.cpu });
  showTile('lag', 'Loop lag', `${node.loopLagMilliseconds.toFixed(1)} ms`, `refuses at ${limits.loopLagMilliseconds} ms`,
    nodeHistory.lag, { ceiling: 10, limit: limits.loopLagMilliseconds });
  showTile('memory', 'Memory', bytes(node.memoryBytes), limits.memoryBytes ? `refuses at ${bytes(limits.memoryBytes)}` : 'no limit set',
    nodeHistory.memory, { limit: limits.memoryBytes });
  showTile('descriptors', 'Descriptors', percent(node.descriptors, 1), `of ${node.maximumDescriptors}, refuses at ${percent(limits.descriptors)}`,
    nodeHistory.descriptors, { ceiling: 0.05, limit: limits.descriptors });

  const phase = node.phase !== 'serving' ? 'draining' : node.closure ?? 'serving';
  $('phase').dataset.phase = phase;
  put($('phase'), node.overloadedBy ? `overloaded by ${words(node.overloadedBy)}` : node.phase === 'finished' ? 'drained' : phase);
  put($('identity'), `${node.host} · ${node.version} · ${node.region} · up ${span(node.uptimeSeconds)}`);
}

// --- Stages and their sessions

const curves = new Map();

function curvesOf(id) {
  if (!curves.has(id)) curves.set(id, { bitrate: new History(), frames: new History(), loss: new History(), roundTrip: new History() });
  return curves.get(id);
}

function remember(sessions) {
  const alive = new Set(sessions.map(session => session.sessionId));
  for (const id of curves.keys()) if (!alive.has(id)) curves.delete(id);
  for (const { sessionId, now } of sessions) {
    if (!now) continue;
    const history = curvesOf(sessionId);
    history.bitrate.add(now.videoBitsPerSecond + now.audioBitsPerSecond);
    history.frames.add(now.framesPerSecond);
    history.loss.add(now.lossRatio);
    history.roundTrip.add(now.roundTripMilliseconds ?? 0);
  }
}

export function showStages({ stages, sessions, limits, node }, actions) {
  remember(sessions);
  $('stages-empty').hidden = stages.length > 0;
  keyed($('stage-list'), stages, stage => stage.id, makeStage, (element, stage) => {
    put(element.querySelector('h3'), stage.name || 'Stage without a name');
    const own = sessions.filter(session => session.stageArn === stage.arn);
    const chip = element.querySelector('.chip');
    put(chip, `${stage.publishers} of ${limits.publishersPerStage} publishing`);
    chip.classList.toggle('good', stage.publishers > 0);
    element.querySelector('.scroll').hidden = own.length === 0;
    const rows = own.flatMap(session => [{ session, kind: 'session' }, { session, kind: 'story' }]);
    keyed(element.querySelector('tbody'), rows, row => `${row.kind} ${row.session.sessionId}`,
      row => row.kind === 'session' ? makeSession(row.session, actions) : makeStory(row.session),
      (line, row) => row.kind === 'session' ? updateSession(line, row.session, limits, node, actions) : updateStory(line, row.session));
  });
}

function makeStage(stage) {
  const heads = ['Participant', 'From', 'Picture', 'Bitrate', 'Frame rate', 'Loss', 'Round trip', 'Since', ''];
  const headRow = make('tr', {}, ...heads.map(head => make('th', { scope: 'col' }, head)));
  return make('section', { class: 'stage' },
    make('header', {}, make('h3'), make('span', { class: 'muted mono' }, stage.id), make('span', { class: 'chip dot' })),
    make('div', { class: 'scroll' }, make('table', {}, make('thead', {}, headRow), make('tbody'))));
}

const gauge = label => make('td', { class: 'gauge' }, make('span', { class: 'now' }, '–'), sparkline(label));

function makeSession(session, actions) {
  const story = make('button', { type: 'button', class: 'quiet', 'aria-expanded': 'false', onclick: event => {
    const row = event.currentTarget.closest('tr').nextElementSibling;
    row.hidden = !row.hidden;
    event.currentTarget.setAttribute('aria-expanded', String(!row.hidden));
  } }, 'Story');
  const cut = make('button', { type: 'button', class: 'quiet cut', onclick: () => actions.disconnect(session) }, 'Disconnect');
  return make('tr', { class: 'session' },
    make('td', { class: 'who' }, make('b', { class: 'mono', title: session.participantId }, session.participantId),
      make('small', {}, [session.process && 'in the older process', session.userId, session.userAgent].filter(Boolean).join(' · ') || 'agent unknown')),
    make('td', { class: 'who' }, make('span', { class: 'chip' }, session.protocol), make('small', { class: 'mono' }, session.source)),
    make('td', { class: 'picture' }, '–'),
    gauge('Bitrate'), gauge('Frame rate'), gauge('Loss'), gauge('Round trip'),
    make('td', { class: 'since' }), make('td', {}, story, cut));
}

function updateSession(row, session, limits, node, actions) {
  const { now } = session;
  row.querySelector('.cut').hidden = actions.isReadOnly();
  put(row.querySelector('.since'), span(between(session.began, node.time)));
  if (!now) return;
  put(row.querySelector('.picture'), now.picture?.replace('x', '\u2009×\u2009') ?? '–');
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

function show(cell, text, history, scale) {
  put(cell.querySelector('.now'), text);
  draw(cell.querySelector('svg'), history, scale);
}

function makeStory() {
  const row = make('tr', { class: 'story' }, make('td', { colspan: '9' }, make('ol', { class: 'steps' }), make('dl', { class: 'facts' })));
  row.hidden = true;
  return row;
}

function updateStory(row, session) {
  if (row.hidden) return;
  showSteps(row.querySelector('.steps'), session.story.steps);
  const { totals } = session;
  const facts = [
    ['session', session.sessionId], ['stage session', session.stageSessionId], ['received', `${(totals.bytes / 1e6).toFixed(1)} MB in ${totals.packets} packets`],
    ['frames', String(totals.videoFrames)], ['lost', String(totals.lostPackets)], ['brought again', String(totals.recoveredPackets)],
    ...session.story.warnings.map(warning => [`warned of ${words(warning.rule)}`, warning.sentence]),
  ];
  keyed(row.querySelector('.facts'), facts, fact => fact[0],
    fact => make('div', {}, make('dt', {}, fact[0]), make('dd', { class: 'mono' })), (element, fact) => put(element.lastChild, fact[1]));
}

function showSteps(list, steps) {
  keyed(list, steps, step => step.step, step => make('li', {}, words(step.step), make('time', { datetime: step.time }, `+${step.milliseconds} ms`)));
}

// --- Lists

export function showLists({ refused, ended, routers, stages }) {
  const names = new Map(stages.map(stage => [stage.arn, stage.name || stage.id]));
  showList('refused', refused, item => `${item.time} ${item.source} ${item.code}`, item => makeRefusal(item, names));
  showList('ended', ended, item => item.sessionId, item => makeEnded(item, names));
  $('routers-empty').hidden = routers.length > 0;
  keyed($('routers'), routers, router => router.name, makeRouter, updateRouter);
}

function showList(id, items, key, create) {
  $(`${id}-empty`).hidden = items.length > 0;
  keyed($(id), items, key, create);
}

const origin = (item, names) =>
  [item.participantId, names.get(item.stageArn), item.source, item.userAgent].filter(Boolean).join(' · ');

function makeRefusal(item, names) {
  return make('li', {},
    make('div', { class: 'head' }, make('span', { class: 'chip bad' }, item.code), make('span', { class: 'chip' }, item.protocol),
      ...(item.wasLive ? [make('span', { class: 'chip warn' }, 'was live')] : []), make('time', { datetime: item.time }, clock(item.time))),
    make('p', { class: 'sentence' }, item.sentence), make('small', {}, origin(item, names)));
}

function makeEnded(item, names) {
  const { totals } = item;
  const seconds = between(item.began, item.ended);
  const rate = seconds > 0 ? bits(totals.bytes * 8 / seconds) : '–';
  return make('li', {},
    make('div', { class: 'head' }, make('span', { class: 'chip' }, item.protocol), make('b', { class: 'mono' }, item.participantId),
      make('time', { datetime: item.ended }, clock(item.ended))),
    make('p', { class: 'sentence' }, item.verdict),
    make('small', {}, [span(seconds), rate, totals.picture, `${totals.lostPackets} lost`, names.get(item.stageArn)].filter(Boolean).join(' · ')));
}

function makeRouter(router) {
  return make('li', {}, make('div', { class: 'head' }, make('b', {}, router.name), make('span', { class: 'chip' }, router.driver),
    make('span', { class: 'chip dot end' })), make('small', { class: 'mono' }, router.address), make('small', { class: 'load' }));
}

function updateRouter(element, router) {
  const chip = element.querySelector('.dot');
  put(chip, router.health);
  chip.className = `chip dot ${{ healthy: 'good', failing: 'warn', dead: 'bad' }[router.health] ?? ''}`;
  put(element.querySelector('.load'), router.participants === undefined ? 'takes what comes, cannot be asked' : `${router.participants} participants`);
}
