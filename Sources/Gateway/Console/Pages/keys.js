// Stream keys: the API calls them ingest configurations. The key itself is asked for only when somebody wants to see it.

import { operation } from './api.js';
import { ask } from './dialogs.js';
import { keyed, make, put } from './dom.js';
import { keyCards } from './encoders.js';
import { attributes, attributesField, userField } from './fields.js';
import { perform } from './notices.js';
import { showSheet } from './sheet.js';

const nameOf = configuration => configuration.name || configuration.arn.split('/')[1];

/** @param context `{ endpoints, stages }`, as they are when a button is pressed. */
export function showKeys(list, configurations, context) {
  list.hidden = configurations.length === 0;
  keyed(list, configurations, configuration => `${configuration.arn} ${configuration.stageArn}`,
    configuration => makeKey(configuration, context), updateKey);
}

function makeKey(configuration, context) {
  const button = (words, action, rights, style = 'quiet') => make('button', {
    type: 'button', class: style, 'data-rights': rights, 'aria-label': `${words} stream key ${nameOf(configuration)}`,
    onclick: () => action(configuration, context()),
  }, words);
  const isAttached = configuration.stageArn !== '';
  return make('li', { class: 'key' },
    make('b', {}, nameOf(configuration)), make('span', { class: 'chip' }, configuration.ingestProtocol), make('span', { class: 'chip dot state' }),
    make('small', { class: 'mono muted' }, [configuration.participantId, configuration.userId].filter(Boolean).join(' · ')),
    make('span', { class: 'actions' }, button('Show', show, 'ivs:GetIngestConfiguration stagedoor:ExportEncoderSettings'),
      isAttached ? button('Detach', detach, 'ivs:UpdateIngestConfiguration') : button('Attach', attach, 'ivs:UpdateIngestConfiguration'),
      button('Delete', remove, 'ivs:DeleteIngestConfiguration', 'quiet cut')));
}

function updateKey(row, configuration) {
  const isLive = configuration.state === 'ACTIVE';
  put(row.querySelector('.state'), isLive ? 'live' : 'idle');
  row.querySelector('.state').classList.toggle('good', isLive);
}

/** Makes one for a stage, and shows it. */
export async function createKey(stage, { endpoints }) {
  const answer = await ask({
    title: `New stream key for ${stage.name || stage.id}`, verb: 'Create', done: 'The stream key is made.',
    text: 'One encoder publishes with it at a time. Whoever has it can publish.',
    fields: [
      { name: 'name', label: 'Name' },
      { name: 'ingestProtocol', label: 'Transport', kind: 'choice', choices: [['RTMPS', 'RTMPS: encrypted'], ['RTMP', 'RTMP and RTMPS: unencrypted too']] },
      userField, attributesField, { name: 'redundantIngest', label: 'Two encoders, each with its key: one goes on when the other fails', kind: 'check' },
    ],
  }, values => operation('CreateIngestConfiguration', {
    ...values, stageArn: stage.arn, insecureIngest: values.ingestProtocol === 'RTMP', attributes: attributes(values.attributes),
    userId: values.userId || undefined,
  }));
  if (answer) showKeySheet(answer.ingestConfiguration, endpoints);
}

async function show({ arn }, { endpoints }) {
  const answer = await perform(() => operation('GetIngestConfiguration', { arn }));
  if (answer) showKeySheet(answer.ingestConfiguration, endpoints);
}

const showKeySheet = (configuration, endpoints) => showSheet({
  title: `Stream key ${nameOf(configuration)}`, text: 'Whoever has the key can publish with it. It leaves this page when you close it.',
  cards: keyCards(configuration, endpoints),
});

const detach = configuration => ask({
  title: `Detach ${nameOf(configuration)}?`, verb: 'Detach', done: 'The stream key is on no stage now.',
  text: 'Nobody publishes with it until it is attached to a stage again.',
}, () => operation('UpdateIngestConfiguration', { arn: configuration.arn, stageArn: '' }));

const attach = (configuration, { stages }) => ask({
  title: `Attach ${nameOf(configuration)}`, verb: 'Attach', done: 'The stream key publishes to that stage now.',
  fields: [{ name: 'stageArn', label: 'Stage', kind: 'choice', choices: stages.map(stage => [stage.arn, stage.name ? `${stage.name} (${stage.id})` : stage.id]) }],
}, ({ stageArn }) => operation('UpdateIngestConfiguration', { arn: configuration.arn, stageArn }));

const remove = configuration => ask({
  title: `Delete ${nameOf(configuration)}?`, verb: 'Delete', isDangerous: true, done: 'The stream key is deleted.',
  text: 'The key is good for nothing from then on, and never comes back.',
  fields: [{ name: 'force', label: 'Cut off who publishes with it', kind: 'check' }],
}, ({ force }) => operation('DeleteIngestConfiguration', { arn: configuration.arn, force }));
