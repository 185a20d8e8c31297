// The console: asks the gateway once a second and shows the answer.

import * as api from './api.js';
import { $ } from './dom.js';
import { showLists } from './lists.js';
import { showNode } from './node.js';
import { showStages } from './stages.js';

const interval = 1000;
let isReadOnly = false;
let isDraining = false;
let timer = null;

async function begin() {
  try {
    const session = await api.session();
    isReadOnly = session.isReadOnly ?? false;
    show(session.needsSignIn ? 'sign-in' : 'overview');
    $('who').hidden = $('sign-out').hidden = !session.accessKeyId;
    $('who').textContent = session.accessKeyId ? `${session.accessKeyId}${isReadOnly ? ' (read only)' : ''}` : '';
    $('drain').hidden = session.needsSignIn || isReadOnly;
    if (session.needsSignIn) {
      $('phase').dataset.phase = 'locked';
      $('phase').textContent = 'signed out';
      $('identity').textContent = '';
      $('access-key').focus();
    } else refresh();
  } catch (error) {
    unreachable(error);
    timer = setTimeout(begin, 2 * interval);
  }
}

function show(id) {
  for (const main of ['sign-in', 'overview']) $(main).hidden = main !== id;
}

async function refresh() {
  clearTimeout(timer);
  try {
    const answer = await api.overview();
    isDraining = answer.node.phase !== 'serving';
    $('drain').textContent = isDraining ? 'Stop draining' : 'Drain';
    showNode(answer);
    showStages(answer, { disconnect, isReadOnly: () => isReadOnly });
    showLists(answer);
    tell('');
  } catch (error) {
    if (error instanceof api.Refused && error.status === 403) return begin();
    unreachable(error);
  }
  timer = setTimeout(refresh, document.hidden ? 5 * interval : interval);
}

function unreachable(error) {
  $('phase').dataset.phase = 'unreachable';
  $('phase').textContent = 'unreachable';
  tell(error instanceof api.Refused ? error.message : 'The gateway does not answer. Trying again.');
}

function tell(fault) {
  $('fault').textContent = fault;
  $('fault').hidden = !fault;
}

/** Fulfilled when the last question has been answered: `close` comes some time after the dialog has gone. */
let answered = Promise.resolve();

/** Asks before something is done that cuts streams; null when the answer is no. */
async function ask(title, text, verb, { reason = false } = {}) {
  await answered;
  const dialog = $('ask');
  if (dialog.open) return null;
  $('ask-title').textContent = title;
  $('ask-text').textContent = text;
  $('ask-yes').textContent = verb;
  $('ask-reason').value = '';
  $('ask-reason-label').hidden = !reason;
  dialog.returnValue = 'no';
  dialog.showModal();
  answered = new Promise(resolve => dialog.addEventListener('close', resolve, { once: true }));
  await answered;
  return dialog.returnValue === 'yes' ? $('ask-reason').value : null;
}

/** Does it, and shows why not. */
async function carryOut(action) {
  try {
    await action();
    await refresh();
  } catch (error) {
    await refresh();
    tell(error.message);
  }
}

async function disconnect(session) {
  const reason = await ask(`Disconnect ${session.participantId}?`,
    'The encoder is cut off within a second and stays out: its stream key is detached from the stage, its tokens are refused.',
    'Disconnect', { reason: true });
  if (reason !== null) await carryOut(() => api.disconnect(session.stageArn, session.participantId, reason));
}

$('drain').addEventListener('click', async () => {
  if (isDraining) return carryOut(api.cancelDrain);
  const answer = await ask('Drain this node?',
    'It stops being ready, then refuses new publishes. Live ones go on until drain.timeout; you can stop draining at any time.', 'Drain');
  if (answer !== null) await carryOut(api.beginDrain);
});

$('sign-in-form').addEventListener('submit', async event => {
  event.preventDefault();
  $('sign-in-fault').textContent = '';
  try {
    await api.signIn($('access-key').value.trim(), $('secret').value.trim());
    $('secret').value = '';
    await begin();
  } catch (error) {
    $('sign-in-fault').textContent = error.message;
  }
});

$('sign-out').addEventListener('click', async () => {
  clearTimeout(timer);
  await api.signOut().catch(() => {});
  begin();
});

begin();
