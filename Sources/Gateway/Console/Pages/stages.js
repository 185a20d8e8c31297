// The stages, each with who is live on it.

import { $, keyed, make, put } from './dom.js';
import { makeSessions, remember, showSessions } from './sessions.js';

export function showStages({ stages, sessions, limits, node }, actions) {
  remember(sessions);
  $('stages-empty').hidden = stages.length > 0;
  keyed($('stage-list'), stages, stage => stage.id, makeStage, (element, stage) => {
    put(element.querySelector('h3'), stage.name || 'Stage without a name');
    const chip = element.querySelector('.chip');
    put(chip, `${stage.publishers} of ${limits.publishersPerStage} publishing`);
    chip.classList.toggle('good', stage.publishers > 0);
    const own = sessions.filter(session => session.stageArn === stage.arn);
    showSessions(element.querySelector('.scroll'), own, { limits, node }, actions);
  });
}

function makeStage(stage) {
  return make('section', { class: 'stage' },
    make('header', {}, make('h3'), make('span', { class: 'muted mono' }, stage.id), make('span', { class: 'chip dot' })),
    makeSessions());
}
