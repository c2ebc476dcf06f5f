// SPDX-License-Identifier: Apache-2.0
// h('td.n', {title: 'x'}, 'text', node): an element; strings become text nodes, whatever they hold.
function h(name, ...rest) {
  const [tag, ...classes] = name.split('.');
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(' ');
  if (rest.length && rest[0] !== null && typeof rest[0] === 'object' && !(rest[0] instanceof Node) && !Array.isArray(rest[0])) {
    for (const [key, value] of Object.entries(rest.shift())) {
      if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
      else if (value !== undefined && value !== null) element.setAttribute(key, value);
    }
  }
  element.append(...rest.flat(3).filter(child => child !== null && child !== undefined).map(child => child instanceof Node ? child : String(child)));
  return element;
}
function s(tag, attributes, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function table(columns, rows, empty) {
  if (rows.length === 0) return h('p.empty', empty);
  const cell = (tag, column, child) => h(tag + (column.startsWith('#') ? '.n' : ''), child);
  return h('div.scroll', h('table',
    h('thead', h('tr', columns.map(column => h('th' + (column.startsWith('#') ? '.n' : ''), {scope: 'col'}, column.replace('#', ''))))),
    h('tbody', rows.map(row => h('tr', row.map((child, i) =>
      child instanceof HTMLTableCellElement ? child : cell('td', columns[i], child)))))));
}
const card = (title, ...children) => h('section.card', {'aria-label': title}, h('h2', title), ...children);
function meter(part, whole, label) {
  const bar = h('span');
  bar.style.width = (whole > 0 ? Math.min(100, 100 * part / whole) : 0) + '%';
  return h('div.meter', {role: 'img', 'aria-label': label, title: label}, bar);
}

// Replaces the contents, and puts the keyboard's focus back where it was.
function show(target, ...nodes) {
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.key : '';
  const [left, top] = [target.scrollLeft, target.scrollTop];
  target.replaceChildren(...nodes.flat().filter(Boolean));
  target.scrollTo(left, top);
  if (focused) for (const node of target.querySelectorAll('[data-key]')) if (node.dataset.key === focused) node.focus();
}
