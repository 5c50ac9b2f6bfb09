/** Builds elements. Text goes in as text only, never as markup: nothing a case holds can become part of the page. */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Attributes */

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes] `on…`: a listener; `true`: present; `false`, null, undefined: absent.
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/**
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[Name]}
 */
export function drawing(name, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

/**
 * @template {Element} Made
 * @param {Made} made
 * @param {Attributes} attributes
 * @param {(Child | Child[])[]} children
 */
function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name.slice(2), (event) => value(event));
    else if (value !== false && value !== null && value !== undefined)
      made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children.flat().flatMap((child) => (isShown(child) ? [toNode(child)] : [])));
  return made;
}

/** @param {Child} child @returns {child is Node | string | number} */
function isShown(child) {
  return child !== null && child !== undefined && child !== false;
}

/** @param {Node | string | number} child */
function toNode(child) {
  return typeof child === 'number' ? String(child) : child;
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element "${id}".`);
  return found;
}

/**
 * A part of the opened case under its title.
 * @param {string} title
 * @param {string} name
 * @param {...(Child | Child[])} content
 */
export function section(title, name, ...content) {
  return element('section', { class: `part ${name}`, 'aria-label': title }, element('h3', {}, title), ...content);
}
