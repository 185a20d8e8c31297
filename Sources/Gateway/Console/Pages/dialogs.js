// Questions: a dialog with fields that stays open, with the gateway's own sentence, as long as what was asked for is refused.

import { make } from './dom.js';
import { tellDone, tellRefusal } from './notices.js';

let count = 0;

/** Shows `content` as a modal dialog named by its heading, and takes it off the page when it closes: it may hold a key. */
export function showDialog(title, content, attributes = {}) {
  const id = `dialog-${++count}`;
  const dialog = make('dialog', { 'aria-labelledby': id, ...attributes }, make('h2', { id }, title), content);
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

const controls = {
  text: field => make('input', { type: 'text', autocomplete: 'off', spellcheck: 'false', value: field.value ?? '' }),
  number: field => make('input', { type: 'number', value: field.value }),
  area: () => make('textarea', { rows: '4', spellcheck: 'false', autocomplete: 'off' }),
  choice: field => make('select', {}, ...field.choices.map(([value, words]) =>
    make('option', { value, ...(value === field.value ? { selected: '' } : {}) }, words))),
  check: field => make('input', { type: 'checkbox', ...(field.value ? { checked: '' } : {}) }),
};

/** One field: `{ name, label, kind, value, choices, hint }`. */
function makeField(field) {
  const control = controls[field.kind ?? 'text'](field);
  control.id = `ask-${field.name}`;
  const label = make('label', field.kind === 'check' ? { class: 'check' } : {});
  label.append(...(field.kind === 'check' ? [control, field.label] : [field.label, control]));
  if (!field.hint) return { control, element: label };
  control.setAttribute('aria-describedby', `${control.id}-hint`);
  return { control, element: make('div', {}, label, make('small', { id: `${control.id}-hint`, class: 'hint' }, field.hint)) };
}

function read(control) {
  if (control.type === 'checkbox') return control.checked;
  return control.type === 'number' ? control.valueAsNumber : control.value.trim();
}

/**
 * Asks, then carries out what was asked for with the values by their names.
 * @returns what `carryOut` answered, or null when the answer was no.
 */
export function ask({ title, text = '', fields = [], verb, isDangerous = false, done = '' }, carryOut) {
  const made = fields.map(makeField);
  const fault = make('p', { class: 'fault', role: 'alert' });
  const yes = make('button', { type: 'submit', id: 'ask-yes', class: isDangerous ? 'danger' : 'primary' }, verb);
  const no = make('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, 'Cancel');
  const form = make('form', { novalidate: '' }, ...(text ? [make('p', {}, text)] : []), ...made.map(field => field.element), fault,
    make('div', { class: 'actions' }, no, yes));
  const dialog = showDialog(title, form, { id: 'ask' });
  tellRefusal('');
  return new Promise(resolve => {
    dialog.addEventListener('close', () => resolve(null));
    form.addEventListener('submit', async event => {
      event.preventDefault();
      yes.disabled = true;
      fault.textContent = '';
      try {
        const answer = await carryOut(Object.fromEntries(fields.map((field, index) => [field.name, read(made[index].control)])));
        resolve(answer ?? {});
        dialog.close();
        dialog.remove();
        if (done) tellDone(done);
        document.dispatchEvent(new Event('changed'));
      } catch (error) {
        fault.textContent = error.message;
      }
      yes.disabled = false;
    });
  });
}
