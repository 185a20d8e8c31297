// Participant tokens: made here, shown once, kept nowhere.

import { operation } from './api.js';
import { ask } from './dialogs.js';
import { tokenCards } from './encoders.js';
import { attributes, attributesField, userField } from './fields.js';
import { perform } from './notices.js';
import { showSheet } from './sheet.js';

const usualMinutes = 720;
const watchingMinutes = 60;

export async function createToken(stage, { endpoints }) {
  const answer = await ask({
    title: `New token for ${stage.name || stage.id}`, verb: 'Create', text: 'For a browser, or an encoder that speaks WHIP.',
    fields: [
      { name: 'publish', label: 'May publish', kind: 'check', value: true }, { name: 'subscribe', label: 'May watch', kind: 'check', value: true },
      { name: 'duration', label: 'Good for so many minutes', kind: 'number', value: usualMinutes, hint: 'At most 20160, which is two weeks.' },
      userField, attributesField,
    ],
  }, values => operation('CreateParticipantToken', {
    stageArn: stage.arn, duration: Number.isNaN(values.duration) ? undefined : values.duration, userId: values.userId || undefined,
    capabilities: [values.publish && 'PUBLISH', values.subscribe && 'SUBSCRIBE'].filter(Boolean), attributes: attributes(values.attributes),
  }));
  if (answer) showToken(answer.participantToken, stage, endpoints);
}

/** A link to look at the stage oneself. */
export async function watch(stage, { endpoints }) {
  const answer = await perform(() => operation('CreateParticipantToken',
    { stageArn: stage.arn, capabilities: ['SUBSCRIBE'], duration: watchingMinutes }));
  if (answer) showToken(answer.participantToken, stage, endpoints);
}

const showToken = (token, stage, endpoints) => showSheet({
  title: `Token of ${token.participantId}`,
  text: `Good until ${new Date(token.expirationTime).toLocaleString()}. Whoever has it is this participant. It is not kept: it leaves this page when you close it.`,
  cards: tokenCards(token, stage.id, endpoints),
});
