// SPDX-License-Identifier: Apache-2.0
// A text in a pane of its own, and panes whose lines are linked by the places that they come from (line_links.js).

const linesOf = text => { const lines = text.split('\n'); if (lines[lines.length - 1] === '') lines.pop(); return lines; };

// `places`: of each line, see placesOf; none where the lines are linked to nothing.
function textPane(stage, title, note, text, file, places) {
  const lines = linesOf(text), pre = h('pre', {tabindex: 0, 'aria-label': title});
  pre.append(...lines.slice(0, MOST_LINES).map((line, i) => {
    const element = h('span' + (places && places[i] && places[i].length ? '.placed' : ''), line || ' ');
    element.line = i;
    return element;
  }));
  if (lines.length > MOST_LINES) pre.append(h('span', `… ${count(lines.length - MOST_LINES)} more lines: save it to see them`));
  const node = h('div.pane', h('div.row', h('b', title), h('span.soft', `${note}${count(lines.length)} lines`),
    h('span.end.row', copyButton(text, 'Copy'), saveButton(text, file))), pre);
  return {stage, node, pre, places: places || []};
}
function missingPane(job, stage, why) {
  const command = emitCommand(job, stage);
  const node = h('div.pane', h('div.row', h('b', stage), h('span.soft', 'not kept')), h('div.missing', h('p', why + ' This command makes it:'),
    h('code.command', command), copyButton(command, 'Copy command')));
  return {stage, node, pre: null, places: []};
}

function scrollTo(pre, element) { pre.scrollTop = element.offsetTop - pre.offsetTop - 60; }

// Marks the lines that hold the text which was searched for.
function mark(panes) {
  for (const {pre} of panes) {
    if (pre === null) continue;
    for (const line of pre.children) line.classList.toggle('hit', search !== '' && line.textContent.includes(search));
    const hit = pre.querySelector('.hit');
    if (hit) scrollTo(pre, hit);
  }
}

// Lets a line of one pane show the lines of all panes that come from the same places: while the pointer is on it, or for good when it
// is chosen, by the pointer or by the arrow keys. `onChoice(stage, line)` hears of that; `reading` gets a sentence on it.
function linkLines(panes, reading, onChoice) {
  const linked = panes.filter(pane => pane.pre !== null && pane.places.some(places => places.length > 0));
  const index = new Map();  // the elements of each place
  for (const {pre, places} of linked)
    for (const element of pre.children)
      for (const place of places[element.line] || []) index.has(place) ? index.get(place).push(element) : index.set(place, [element]);
  const marked = {near: new Set(), linked: new Set()};
  let chosen = null;
  const show = (name, places) => {
    for (const element of marked[name]) element.classList.remove(name);
    marked[name] = new Set(places.flatMap(place => index.get(place) || []));
    for (const element of marked[name]) element.classList.add(name);
  };
  const choose = (pane, line) => {
    chosen = {pane, line};
    const places = pane.places[line];
    show('linked', places);
    const found = linked.map(({stage, pre}) => {
      const lines = [...marked.linked].filter(element => element.parentNode === pre);
      if (lines.length && pre !== pane.pre) scrollTo(pre, lines[0]);
      return `${lines.length} ${lines.length === 1 ? 'line' : 'lines'} of ${stage}`;
    });
    reading.textContent = places.map(place => place.replace(OWN_TEXT + ':', 'input, line ')).join(', ') + ': ' + found.join(', ');
    onChoice(pane.stage, line + 1);
  };
  for (const pane of linked) {
    const lineAt = event => event.target.line !== undefined && (pane.places[event.target.line] || []).length ? event.target.line : -1;
    pane.pre.addEventListener('pointerover', event => show('near', lineAt(event) < 0 ? [] : pane.places[lineAt(event)]));
    pane.pre.addEventListener('pointerleave', () => show('near', []));
    pane.pre.addEventListener('click', event => { if (lineAt(event) >= 0 && String(getSelection()) === '') choose(pane, lineAt(event)); });
    pane.pre.addEventListener('keydown', event => {
      const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
      if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
      let line = chosen && chosen.pane === pane ? chosen.line + step : step > 0 ? 0 : pane.places.length - 1;
      while (pane.places[line] && pane.places[line].length === 0) line += step;
      if (!pane.places[line]) return;
      event.preventDefault();
      choose(pane, line);
      pane.pre.children[line].scrollIntoView({block: 'nearest'});
    });
  }
  return (stage, line) => {
    const pane = linked.find(one => one.stage === stage);
    if (!pane || !(pane.places[line - 1] || []).length) return;
    choose(pane, line - 1);
    if (pane.pre.children[line - 1]) scrollTo(pane.pre, pane.pre.children[line - 1]);
  };
}

// A file of the reader's own, which the lines come from. It stays in the browser.
function sourcePane(file, onOpen) {
  const field = h('input', {type: 'file', 'aria-label': 'Open ' + file, onchange: async () => {
    if (field.files.length) onOpen(textPane('source', field.files[0].name, 'from this machine, ', await field.files[0].text(), field.files[0].name));
  }});
  return {stage: 'source', pre: null, places: [], node: h('div.pane', h('div.row', h('b', 'source'), h('span.soft', file)),
    h('div.missing', h('p', 'The lines come from ' + file + '. Open it here to see it beside its stages. The browser sends it to nobody.'), field))};
}
