// What the signed-in access key may do, as the gateway judges it: what it may not is not offered, and the page says so.

import { $, put } from './dom.js';

/** What the page can offer, in words. */
const offers = {
  'ivs:CreateStage': 'create stages', 'ivs:DeleteStage': 'delete stages', 'ivs:CreateIngestConfiguration': 'make stream keys',
  'stagedoor:ExportEncoderSettings': 'show stream keys', 'ivs:GetIngestConfiguration': 'show stream keys',
  'ivs:UpdateIngestConfiguration': 'attach and detach stream keys', 'ivs:DeleteIngestConfiguration': 'delete stream keys',
  'ivs:ListIngestConfigurations': 'list stream keys', 'ivs:CreateParticipantToken': 'make tokens',
  'ivs:DisconnectParticipant': 'disconnect', 'ivs:ListPublicKeys': 'list public keys', 'ivs:ImportPublicKey': 'import public keys',
  'ivs:DeletePublicKey': 'delete public keys', 'stagedoor:GetThumbnail': 'see thumbnails', 'stagedoor:GetRecording': 'play recordings',
  'ivs:ListStageSessions': 'play recordings', 'ivs:ListParticipants': 'play recordings', 'stagedoor:GetSession': 'see how sessions stand with the rules',
  'ivs:CreateStorageConfiguration': 'add storage', 'ivs:DeleteStorageConfiguration': 'delete storage',
  'ivs:ListStorageConfigurations': 'list storage', 'ivs:GetStage': 'have stages recorded', 'ivs:UpdateStage': 'have stages recorded',
  'stagedoor:StartDrain': 'drain', 'stagedoor:StopDrain': 'stop draining',
  'stagedoor:SwitchSource': 'switch between encoders',
};
let actions = new Set();

/** @param session what the gateway says of who is signed in. */
export function setRights(session) {
  actions = new Set(session.actions ?? []);
  const missing = new Set(Object.keys(offers).filter(action => !may(action)).map(action => offers[action]));
  $('rights').hidden = session.needsSignIn || missing.size === 0;
  put($('rights'), $('rights').hidden ? '' : reason([...missing]));
  offer();
}

const reason = missing => may('stagedoor:GetOverview') ? `This access key may not ${missing.join(', ')}: that is not offered.`
  : 'This access key may not see this page (stagedoor:GetOverview). What it may do, it may do by the API.';

export const may = (...wanted) => wanted.every(action => actions.has(action));

/** Takes away what needs other rights than there are (`data-rights`: actions, with blanks between). */
export function offer() {
  for (const element of document.querySelectorAll('[data-rights]')) {
    element.toggleAttribute('data-denied', !may(...element.dataset.rights.split(' ')));
  }
}
