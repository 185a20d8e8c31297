// What the page says beside what it shows: that the gateway does not answer, that it refused something, that something is done.

import { $, put } from './dom.js';

const shownFor = 8_000;
const faults = { connection: '', refusal: '' };
let clearing = null;

function showFaults() {
  const words = faults.connection || faults.refusal;
  put($('fault'), words);
  $('fault').hidden = !words;
}

/** Why nothing can be shown; '' when it can. */
export function tellConnection(words) {
  faults.connection = words;
  showFaults();
}

/** Why what somebody wanted was not done; stays until the next attempt. */
export function tellRefusal(words) {
  faults.refusal = words;
  showFaults();
}

/** That it was done. */
export function tellDone(words) {
  clearTimeout(clearing);
  put($('done'), words);
  clearing = setTimeout(() => put($('done'), ''), shownFor);
}

/** Does what needs no question; the gateway's own sentence is shown when it refuses. */
export async function perform(action, done = '') {
  tellRefusal('');
  try {
    const answer = await action();
    if (done) tellDone(done);
    document.dispatchEvent(new Event('changed'));
    return answer;
  } catch (error) {
    tellRefusal(error.message);
    return null;
  }
}
