// The console: asks the gateway once a second and shows the answer.

import * as api from './api.js';
import { ask } from './dialogs.js';
import { $ } from './dom.js';
import { forget, inventory } from './inventory.js';
import { showLists } from './lists.js';
import { showNode } from './node.js';
import { perform, tellConnection } from './notices.js';
import { importKey, showPublicKeys } from './publickeys.js';
import { may, offer, setRights } from './rights.js';
import { createStage, showStages } from './stages.js';
import { createStorage, showStorages } from './storage.js';

const interval = 1000;
let isDraining = false;
let timer = null;

async function begin() {
  forget();
  try {
    const session = await api.session();
    setRights(session);
    show(session.needsSignIn ? 'sign-in' : may('stagedoor:GetOverview') ? 'overview' : 'rights');
    $('who').hidden = $('sign-out').hidden = !session.accessKeyId;
    $('who').textContent = session.accessKeyId ?? '';
    $('drain').hidden = session.needsSignIn;
    if (may('stagedoor:GetOverview')) return refresh();
    $('phase').dataset.phase = 'locked';
    $('phase').textContent = session.needsSignIn ? 'signed out' : 'not shown';
    $('identity').textContent = '';
    if (session.needsSignIn) $('access-key').focus(); else timer = setTimeout(begin, 10 * interval);
  } catch (error) {
    unreachable(error);
    timer = setTimeout(begin, 2 * interval);
  }
}

/** Who is not signed in sees nothing of what a dialog may still hold. */
function show(id) {
  for (const main of ['sign-in', 'overview']) $(main).hidden = main !== id;
  if (id !== 'overview') for (const dialog of document.querySelectorAll('dialog')) dialog.close();
}

async function refresh() {
  clearTimeout(timer);
  try {
    const [answer, { configurations, publicKeys, storages }] = await Promise.all([api.overview(), inventory()]);
    isDraining = answer.node.phase !== 'serving';
    $('drain').textContent = isDraining ? 'Stop draining' : 'Drain';
    showNode(answer);
    showStorages(storages);
    showStages(answer, configurations, { disconnect, switchSource });
    showPublicKeys(publicKeys);
    showLists(answer);
    offer();
    tellConnection('');
  } catch (error) {
    if (error instanceof api.Refused && error.status === 403) return begin();
    unreachable(error);
  }
  clearTimeout(timer);
  timer = setTimeout(refresh, document.hidden ? 5 * interval : interval);
}

function unreachable(error) {
  $('phase').dataset.phase = 'unreachable';
  $('phase').title = '';
  $('phase').textContent = 'unreachable';
  tellConnection(error instanceof api.Refused ? error.message : 'The gateway does not answer. Trying again.');
}

const disconnect = ({ stageArn, participantId }) => ask({
  title: `Disconnect ${participantId}?`, verb: 'Disconnect', isDangerous: true, done: 'The participant is disconnected.',
  text: 'The encoder is cut off within a second and stays out: its stream key is detached from the stage, its tokens are refused.',
  fields: [{ name: 'reason', label: 'Reason, as the encoder\'s log shows it' }],
}, ({ reason }) => api.operation('DisconnectParticipant', { stageArn, participantId, reason: reason || undefined }));

const switchSource = (participantId, encoder) => perform(() => api.switchSource(participantId, encoder));

const drain = () => ask({
  title: 'Drain this node?', verb: 'Drain', isDangerous: true,
  text: 'It stops being ready, then refuses new publishes. Live ones go on until drain.timeout; you can stop draining at any time.',
}, api.beginDrain);

/** The gateway answers how it stands then. */
async function stopDraining() {
  const { phase } = await api.cancelDrain();
  if (phase !== 'serving') throw new Error('A signal began this drain: the process ends after it, and it is not taken back.');
}

$('drain').addEventListener('click', () => isDraining ? perform(stopDraining) : drain());
$('create-stage').addEventListener('click', createStage);
$('create-storage').addEventListener('click', createStorage);
$('import-key').addEventListener('click', importKey);
document.addEventListener('changed', () => {
  forget();
  refresh();
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
