// Participants of two encoders: which of them the stage gets and why, and the other one at a press.

import { make, put } from './dom.js';
import { words } from './units.js';

/** An empty place in a session's row. */
export const makeSource = actions => make('span', { class: 'source', hidden: true }, make('span', { class: 'chip' }), make('button', {
  type: 'button', class: 'quiet', 'data-rights': 'stagedoor:SwitchSource', onclick: event => {
    const { participant, encoder } = event.currentTarget.dataset;
    actions.switchSource(participant, Number(encoder));
  },
}));

/** @param redundant participants of two encoders, as the overview has them. */
export function showSource(place, session, redundant = []) {
  const joined = redundant.find(one => one.participantId === session.participantId && one.stageArn === session.stageArn);
  const pair = redundant.find(one => one.stageArn === session.stageArn && own(one, session));
  place.hidden = !joined && !pair;
  if (joined) showJoined(place, joined);
  else if (pair) showEncoder(place, own(pair, session));
}

const own = ({ encoders }, { participantId }) => encoders.find(encoder => encoder.participantId === participantId);

function showJoined(place, { participantId, source, lastSwitch, encoders }) {
  const [chip, button] = place.children;
  put(chip, source ? `from encoder ${source}` : 'from no encoder');
  chip.title = lastSwitch ? `since ${lastSwitch.time}: ${words(lastSwitch.reason)}${gap(lastSwitch)}` : '';
  const other = encoders.find(encoder => encoder.encoder !== source && encoder.health !== 'still');
  button.hidden = !source || !other;
  if (button.hidden) return;
  put(button, `Switch to encoder ${other.encoder}`);
  Object.assign(button.dataset, { participant: participantId, encoder: other.encoder });
}

const gap = ({ gapMilliseconds }) => gapMilliseconds === undefined ? '' : `, ${gapMilliseconds} ms`;

function showEncoder(place, { encoder, state, health }) {
  const [chip, button] = place.children;
  put(chip, `encoder ${encoder}: ${state}${health === 'well' ? '' : `, ${health}`}`);
  button.hidden = true;
}
