// How a session stands with each rule of the media contract: asked for while somebody looks.

import * as api from './api.js';
import { keyed, make, put } from './dom.js';
import { may } from './rights.js';
import { words } from './units.js';

/** An empty table. */
export function makeRules() {
  const heads = ['Rule', 'Limit', 'Seen', '', 'Setting'];
  const table = make('table', { 'aria-label': 'Rules of the media contract' },
    make('thead', {}, make('tr', {}, ...heads.map(head => make('th', { scope: 'col' }, head)))), make('tbody'));
  const element = make('div', { class: 'rules' }, table);
  element.hidden = true;
  return element;
}

/** Fills it, or leaves it as it is when the gateway does not know any more. One question at a time. */
export async function showRules(element, sessionId) {
  if (element.ariaBusy === 'true' || !may('stagedoor:GetSession')) return;
  element.ariaBusy = 'true';
  try {
    const { rules = [] } = await api.publishSession(sessionId);
    element.hidden = rules.length === 0;
    keyed(element.querySelector('tbody'), rules, rule => rule.rule, makeRule, updateRule);
  } catch { /* The next look may be luckier. */ }
  element.ariaBusy = 'false';
}

function makeRule(rule) {
  return make('tr', {}, make('th', { scope: 'row' }, words(rule.rule)), make('td', {}), make('td', {}),
    make('td', {}, make('span', { class: 'chip' })), make('td', { class: 'mono' }));
}

function updateRule(row, rule) {
  const [, limit, seen, , setting] = row.children;
  put(limit, rule.limit);
  put(seen, rule.seen ?? '–');
  put(setting, rule.setting);
  const broken = rule.action === 'warn' ? 'warned' : 'not ok';
  const chip = row.querySelector('.chip');
  put(chip, rule.action === 'off' ? 'off' : rule.ok === undefined ? 'not yet' : rule.ok ? 'ok' : broken);
  chip.className = `chip ${rule.ok === undefined ? '' : rule.ok ? 'good' : rule.action === 'warn' ? 'warn' : 'bad'}`;
}
