// SPDX-License-Identifier: Apache-2.0
// Two compiles side by side.

// The jobs that this one is likely to be compared with: those of its name first.
function compareForm(job, jobs) {
  const others = jobs.filter(one => one.id !== job.id && one.outcome === 'OK');
  if (!others.length || job.outcome !== 'OK') return null;
  const near = one => (one.label === job.label ? 2 : 0) + (one.target === job.target ? 1 : 0);
  others.sort((a, b) => near(b) - near(a));
  const field = h('select', {'aria-label': 'Compare with', onchange: () => {
    if (field.value) location.hash = `#compare/${encodeURIComponent(job.id)}/${encodeURIComponent(field.value)}`;
  }}, h('option', {value: ''}, 'Compare with …'), others.slice(0, 50).map(one =>
    h('option', {value: one.id}, `${one.label || one.id.slice(0, 13)}, ${one.target}, ${clock(one.finished_unix_ms)}`)));
  return field;
}

// [name, of the one, of the other] of everything that both tell or that differs.
function comparedFacts(one, other) {
  const options = job => (job.request && job.request.options) || {};
  const names = [...new Set([...Object.keys(options(one)), ...Object.keys(options(other))])].sort();
  const word = value => value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
  const size = (job, stage) => { const found = (job.artifacts || []).find(artifact => artifact.stage === stage); return found ? bytes(found.size_bytes) : '–'; };
  const resources = [resourcesOf(one), resourcesOf(other)];
  return [
    ['Target', one.target, other.target],
    ...names.map(name => ['Option ' + name, word(options(one)[name]), word(options(other)[name])]),
    ...Object.keys(resources[0]).map(name => [name, resources[0][name] || '–', resources[1][name] || '–']),
    ['Binary', size(one, 'binary'), size(other, 'binary')],
    ['Time', span(one.run_ms), span(other.run_ms)],
    ['Compiler', one.build_id, other.build_id],
  ].filter(row => (row[1] !== '–' || row[2] !== '–') && (row[0] !== 'Compiler' || row[1] !== row[2]));
}

function diffTable(name, lines) {
  const rows = diffRows(lines[0], lines[1]);
  if (rows === null) return h('p.notice', 'The texts have too little in common to be laid side by side.');
  const changed = rows.filter(row => row[2] === 'changed').length;
  if (!changed) return h('p.empty', 'No line differs.');
  const near = rows.map((row, i) => rows.slice(Math.max(0, i - 3), i + 4).some(one => one[2] === 'changed'));
  const cell = (side, i) => [h('td.n.soft', i < 0 ? '' : i + 1), h('td.code', i < 0 ? '' : lines[side][i])];
  const body = [];
  for (let i = 0; i < rows.length && body.length < MOST_LINES; ++i) {
    if (near[i]) {
      const [a, b, kind] = rows[i];
      body.push(h('tr' + (kind === 'same' ? '' : '.changed'), cell(0, a), cell(1, b)));
      continue;
    }
    let end = i;
    while (end < rows.length && !near[end]) ++end;
    body.push(h('tr', h('td.soft.fold', {colspan: 4}, `${count(end - i)} equal lines`)));
    i = end - 1;
  }
  return [h('p.reading', `${count(changed)} lines differ`), h('div.scroll', h('table.diff', {'aria-label': name + ', compared'}, h('tbody', body)))];
}

function comparedTexts(texts, wanted, onChoice) {
  const both = texts[0].filter(one => one.text !== undefined && texts[1].some(other => other.stage === one.stage && other.text !== undefined));
  if (!both.length) return h('p.notice', 'No stage of both jobs is stored. Their own pages can make them.');
  const holder = h('div'), buttons = both.map(one => h('button', {type: 'button', onclick: () => { choose(one.stage); onChoice(one.stage); }}, one.format));
  function choose(stage) {
    const pair = texts.map(list => linesOf(list.find(one => one.stage === stage).text));
    both.forEach((one, i) => buttons[i].setAttribute('aria-pressed', String(one.stage === stage)));
    holder.replaceChildren(...[diffTable(stage, pair)].flat());
  }
  choose((both.find(one => one.stage === wanted) || both[both.length - 1]).stage);
  const more = both.length < texts[0].length ? h('span.soft', 'Stages that both jobs have. Their pages can make the others.') : null;
  return h('section.card', {'aria-label': 'Texts compared'}, h('div.row.head', h('h2', 'Stage'), ...buttons, more || ''), holder);
}

async function comparePage(ids, stage, mine) {
  let jobs;
  try {
    jobs = await Promise.all(ids.map(async id => (await ask('/api/jobs/' + encodeURIComponent(id))).json()));
  } catch (error) {
    if (mine === view) main.replaceChildren(h('p', h('a', {href: '#'}, '← All jobs')), h('p.notice.bad', error.message + '.'));
    return;
  }
  const texts = await Promise.all(jobs.map(job => job.access.ir ? fetchTexts(job) : []));
  if (mine !== view) return;
  document.title = jobs.map(job => job.label || 'job').join(' and ') + ' – tritond';
  const link = job => h('a', {href: '#job/' + encodeURIComponent(job.id)}, job.label || job.id.slice(0, 13), ' ', h('span.soft', clock(job.finished_unix_ms)));
  const rows = comparedFacts(...jobs).map(([name, one, other]) => [name, h('td' + (one === other ? '' : '.differs'), one), h('td' + (one === other ? '' : '.differs'), other)]);
  const facts = table(['', '1', '2'], [['Job', link(jobs[0]), link(jobs[1])], ...rows], '');
  main.replaceChildren(h('p', h('a', {href: '#'}, '← All jobs')), h('div.grid', card('Two compiles', h('div.facts', facts))),
    jobs[0].access.ir ? comparedTexts(texts, stage, chosen => history.replaceState(null, '', `#compare/${ids.map(encodeURIComponent).join('/')}/${chosen}`))
      : h('p.notice', jobs[0].access.why_not + '.'));
}
