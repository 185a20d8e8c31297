// Elements, made and kept. Every text from outside goes in as text, never as markup.

export const $ = id => document.getElementById(id);

/** An element with attributes, and children that are elements or texts. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'onclick') element.addEventListener('click', value); else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** Sets the text of an element, if it is another one. */
export const put = (element, text) => { if (element.textContent !== text) element.textContent = text; };

/** Keeps one element per item, so that focus and open stories outlive a refresh. */
export function keyed(container, items, key, create, update) {
  const old = new Map([...container.children].map(child => [child.dataset.key, child]));
  // Two of one name can come: who has no place any more is known by itself.
  const surplus = new Set(container.children);
  let place = container.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    let element = old.get(name);
    old.delete(name);
    if (!element) {
      element = create(item);
      element.dataset.key = name;
    }
    surplus.delete(element);
    if (element === place) place = place.nextElementSibling; else container.insertBefore(element, place);
    update?.(element, item);
  }
  for (const element of surplus) element.remove();
}
