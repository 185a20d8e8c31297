// What ended, what was refused, and where media goes.

import { $, keyed, make, put } from './dom.js';
import { makeRules, showRules } from './rules.js';
import { between, bits, clock, span } from './units.js';

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

const origin = (item, names) => [
  item.participantId, names.get(item.stageArn), item.source, item.userAgent, item.credentialHash && `key ${item.credentialHash}`,
].filter(Boolean).join(' · ');

function makeRefusal(item, names) {
  return make('li', {},
    make('div', { class: 'head' }, make('span', { class: 'chip bad' }, item.code), make('span', { class: 'chip' }, item.protocol),
      ...(item.wasLive ? [make('span', { class: 'chip warn' }, 'was live')] : []), make('time', { datetime: item.time }, clock(item.time))),
    make('p', { class: 'sentence' }, item.sentence), make('small', {}, origin(item, names)), ...rulesOf(item));
}

/** Opened, it asks until it has an answer: a session that ended changes no more. */
function rulesOf({ sessionId }) {
  if (!sessionId) return [];
  const rules = makeRules();
  const details = make('details', { 'data-rights': 'stagedoor:GetSession' }, make('summary', {}, 'Rules'), rules);
  details.addEventListener('toggle', () => { if (details.open && rules.hidden) showRules(rules, sessionId); });
  return [details];
}

function makeEnded(item, names) {
  const { totals } = item;
  const seconds = between(item.began, item.ended);
  const rate = seconds > 0 ? bits(totals.bytes * 8 / seconds) : '–';
  return make('li', {},
    make('div', { class: 'head' }, make('span', { class: 'chip' }, item.protocol), make('b', { class: 'mono' }, item.participantId),
      make('time', { datetime: item.ended }, clock(item.ended))),
    make('p', { class: 'sentence' }, item.verdict),
    ...(item.encoder?.culprit ? [make('p', { class: 'sentence' }, `By its encoder: ${item.encoder.verdict}.`)] : []),
    make('small', {}, [span(seconds), rate, totals.picture, `${totals.lostPackets} lost`, names.get(item.stageArn)].filter(Boolean).join(' · ')),
    ...rulesOf(item));
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
