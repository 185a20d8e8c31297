// The latest picture of whoever is live, where a stage has thumbnails made.

import { make } from './dom.js';
import { may } from './rights.js';

/** Between two questions for one, in milliseconds. */
const shortest = 5_000;

/** A picture that is not to be seen before it is there. */
export function makeThumbnail(participantId) {
  const image = make('img', { class: 'thumbnail', alt: `Latest picture of ${participantId}`, hidden: '' });
  image.addEventListener('load', () => { image.hidden = false; });
  image.addEventListener('error', () => { image.hidden = true; });
  return image;
}

/** @param seconds from one thumbnail to the next; 0 where none are made. */
export function showThumbnail(image, session, seconds) {
  const isMade = seconds > 0 && !session.process && may('stagedoor:GetThumbnail');
  if (!isMade) image.hidden = true;
  const now = Date.now();
  if (!isMade || now < Number(image.dataset.next ?? 0)) return;
  image.dataset.next = now + (image.hidden ? shortest : Math.max(shortest, 1_000 * seconds));
  const stageId = session.stageArn.split('/')[1];
  image.src = `/v1/stages/${stageId}/participants/${encodeURIComponent(session.participantId)}/thumbnail?at=${now}`;
}
