// The stages, each with its stream keys and with who is live on it.

import { operation } from './api.js';
import { ask } from './dialogs.js';
import { $, keyed, make, put } from './dom.js';
import { createKey, showKeys } from './keys.js';
import { showRecordings } from './recordings.js';
import { makeSessions, remember, showSessions } from './sessions.js';
import { record, recordedInto } from './storage.js';
import { createToken, watch } from './tokens.js';

/** What the buttons work with: as it was when the stages were last shown. */
let context = { endpoints: {}, stages: [] };
const currentContext = () => context;

export function showStages({ stages, sessions, limits, node, endpoints, redundant }, configurations, actions) {
  context = { endpoints, stages };
  remember(sessions);
  $('stages-empty').hidden = stages.length > 0;
  keyed($('stage-list'), stages, stage => stage.id, makeStage, (element, stage) => {
    updateStage(element, stage, limits);
    showKeys(element.querySelector('.keys'), configurations.filter(item => item.stageArn === stage.arn), currentContext);
    const setting = { limits, node, redundant, thumbnailSeconds: stage.thumbnailSeconds };
    showSessions(element.querySelector('.scroll'), sessions.filter(session => session.stageArn === stage.arn), setting, actions);
  });
  const loose = configurations.filter(item => item.stageArn === '');
  $('loose').hidden = loose.length === 0;
  showKeys($('loose-keys'), loose, currentContext);
}

function makeStage(stage) {
  const title = make('h3', { id: `stage-${stage.id}` });
  const button = (words, action, right, style = 'quiet') => make('button', {
    type: 'button', class: style, 'data-rights': right, 'aria-describedby': title.id, onclick: () => action(stage, context),
  }, words);
  return make('section', { class: 'stage', 'aria-labelledby': title.id },
    make('header', {}, title, make('span', { class: 'muted mono' }, stage.id), make('span', { class: 'chip dot' }), make('span', { class: 'chip recorded' }),
      make('div', { class: 'actions set-up' }, button('New stream key', createKey, 'ivs:CreateIngestConfiguration'),
        button('New token', createToken, 'ivs:CreateParticipantToken'), button('Watch', watch, 'ivs:CreateParticipantToken', 'quiet watch'),
        button('Record', record, 'ivs:GetStage ivs:UpdateStage'),
        button('Recordings', showRecordings, 'ivs:ListStageSessions ivs:ListParticipants stagedoor:GetRecording', 'quiet recordings-of'), button('Delete', remove, 'ivs:DeleteStage', 'quiet cut-stage cut'))),
    make('ul', { class: 'keys', 'aria-label': 'Stream keys' }), makeSessions());
}

function updateStage(element, stage, limits) {
  put(element.querySelector('h3'), stage.name || 'Stage without a name');
  const chip = element.querySelector('header .chip');
  put(chip, `${stage.publishers} of ${limits.publishersPerStage} publishing`);
  chip.classList.toggle('good', stage.publishers > 0);
  const recorded = element.querySelector('.recorded');
  put(recorded, recordedInto(stage.storageConfigurationArn));
  recorded.hidden = !recorded.textContent;
  element.querySelector('.watch').hidden = !context.endpoints.watch;
}

export const createStage = () => ask({
  title: 'Create a stage', verb: 'Create', done: 'The stage is made: give it a stream key or a token.',
  fields: [{ name: 'name', label: 'Name', hint: 'Letters, digits, - and _; it may be left out.' }],
}, values => operation('CreateStage', values));

const remove = stage => ask({
  title: `Delete ${stage.name || stage.id}?`, verb: 'Delete', isDangerous: true, done: 'The stage is deleted.',
  text: 'Whoever publishes or watches there is cut off. Its stream keys stay, on no stage.',
}, () => operation('DeleteStage', { arn: stage.arn }));
