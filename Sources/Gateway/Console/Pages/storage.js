// Where participants are recorded: storage configurations, and which of them a stage uses.

import { operation } from './api.js';
import { ask } from './dialogs.js';
import { $, keyed, make } from './dom.js';
import { perform } from './notices.js';
import { may } from './rights.js';

const media = [['AUDIO_VIDEO', 'Sound and pictures'], ['AUDIO_ONLY', 'Sound alone'], ['NONE', 'Thumbnails alone']];
let storages = [];

export function showStorages(configurations) {
  storages = configurations;
  $('storages-empty').hidden = storages.length > 0;
  keyed($('storages'), storages, storage => storage.arn, makeStorage);
}

const nameOf = storage => storage.name || storage.arn.split('/')[1];

/** Where a stage's participants are recorded, in a word; '' where they are not. */
export function recordedInto(arn) {
  if (!arn) return '';
  const storage = storages.find(each => each.arn === arn);
  if (storage) return `recorded into ${storage.s3.bucketName}`;
  return may('ivs:ListStorageConfigurations') ? 'its storage is gone' : 'recorded';
}

function makeStorage(storage) {
  const remove = make('button', {
    type: 'button', class: 'quiet cut', 'data-rights': 'ivs:DeleteStorageConfiguration',
    'aria-label': `Delete storage ${nameOf(storage)}`, onclick: () => deleteStorage(storage),
  }, 'Delete');
  return make('li', {}, make('div', { class: 'head' }, make('b', {}, nameOf(storage)), make('span', { class: 'chip' }, storage.s3.bucketName),
    make('span', { class: 'actions' }, remove)), make('small', { class: 'mono' }, storage.arn));
}

export const createStorage = () => ask({
  title: 'Create a storage configuration', verb: 'Create', done: 'Stages can be recorded there.',
  text: 'For a bucket, or folder, that the configuration file names under storage. Whether it can be written to is tried now.',
  fields: [{ name: 'name', label: 'Name', hint: 'Letters, digits, - and _; it may be left out.' }, { name: 'bucketName', label: 'Bucket' }],
}, ({ name, bucketName }) => operation('CreateStorageConfiguration', { name, s3: { bucketName } }));

const deleteStorage = storage => ask({
  title: `Delete ${nameOf(storage)}?`, verb: 'Delete', isDangerous: true, done: 'The storage configuration is deleted.',
  text: 'What was recorded stays in the bucket. Stages that record there record nothing more.',
}, () => operation('DeleteStorageConfiguration', { arn: storage.arn }));

/** Asks where a stage's participants are to be recorded; what the dialog does not ask for stays as it is. */
export async function record(stage) {
  const answer = await perform(() => operation('GetStage', { arn: stage.arn }));
  if (!answer) return;
  const now = answer.stage.autoParticipantRecordingConfiguration;
  const pictures = now.thumbnailConfiguration;
  const into = now.storageConfigurationArn;
  const choices = [['', 'Nowhere, or where recording.directory says'], ...storages.map(each => [each.arn, `${nameOf(each)} (${each.s3.bucketName})`])];
  if (!choices.some(([arn]) => arn === into)) choices.push([into, `As it is: ${recordedInto(into)}`]);
  await ask({
    title: `Record ${stage.name || stage.id}`, verb: 'Save', done: 'From the next publish on.',
    fields: [
      { name: 'storage', label: 'Into', kind: 'choice', choices, value: into },
      { name: 'window', label: 'Who comes back within so many seconds goes on in the same recording', kind: 'number',
        value: now.recordingReconnectWindowSeconds, hint: '0 to 300.' },
      { name: 'segment', label: 'Seconds of a segment', kind: 'number', value: now.hlsConfiguration.targetSegmentDurationSeconds, hint: '2 to 10.' },
      { name: 'media', label: 'What', kind: 'choice', choices: media, value: now.mediaTypes[0] },
      { name: 'pictures', label: 'Seconds from one thumbnail to the next', kind: 'number',
        value: pictures.recordingMode === 'INTERVAL' ? pictures.targetIntervalSeconds : 0, hint: '1 to 86,400; 0: none are made.' },
    ],
  }, ({ storage, window, segment, media, pictures: seconds }) => operation('UpdateStage', {
    arn: stage.arn,
    autoParticipantRecordingConfiguration: {
      ...now, storageConfigurationArn: storage, recordingReconnectWindowSeconds: window, hlsConfiguration: { targetSegmentDurationSeconds: segment },
      mediaTypes: [media], thumbnailConfiguration: seconds ? { storage: pictures.storage, recordingMode: 'INTERVAL', targetIntervalSeconds: seconds }
        : { ...pictures, recordingMode: 'DISABLED' },
    },
  }));
}
