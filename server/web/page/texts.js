// SPDX-License-Identifier: Apache-2.0
// The texts of a job, stage by stage.

// The text of each stage from the input on: {stage, text, format, note, isInput}, or {stage, why} where there is none.
async function fetchTexts(job) {
  const kept = new Map((job.artifacts || []).map(artifact => [artifact.stage, artifact])), made = job.made || [];
  const input = job.input || 'ttir', stages = TEXT_STAGES.slice(Math.max(0, TEXT_STAGES.indexOf(input)));
  return Promise.all(stages.map(async stage => {
    const isInput = stage === input, artifact = kept.get(stage);
    try {
      const text = await (await ask(`/api/jobs/${encodeURIComponent(job.id)}/ir/${stage}`)).text();
      const again = made.find(one => one.stage === stage);
      const format = again ? again.format : artifact ? artifact.format : stage;
      return {stage, text, format, isInput, note: isInput ? 'as sent, ' : again ? 'made again, ' : ''};
    } catch (error) {
      return {stage, isInput, why: isInput || artifact ? 'Its text cannot be shown: ' + error.message + '.' : 'Nobody asked for this stage, so it was not stored.'};
    }
  }));
}

// Has all stages made, with source lines; the page comes back to see whether they are there.
function makeForm(job, address, mine) {
  const making = job.making;
  if (making && making.under_way) {
    timer = setTimeout(jobPage, PERIOD_MS, job.id, mine);
    return h('p.notice', 'The stages are being made …');
  }
  if (!job.access.compiles) return h('p.notice', 'Callers with the role compile can have all stages made here.');
  const form = h('p.row.notice');
  if (making) form.append(h('span.bad', `The stages could not be made: ${making.error}.`));
  form.append(h('button', {type: 'button', onclick: async event => {
    event.target.disabled = true;
    try { await ask(address, 'POST'); jobPage(job.id, mine); } catch (error) { form.append(h('span.bad', error.message + '.')); }
  }}, 'Make all stages'), h('span.soft', 'compiles the same request again with source lines, which link the stages'));
  return form;
}

function stageButtons(panes) {
  return panes.map(pane => {
    const button = h('button', {type: 'button', 'aria-pressed': 'true', onclick: () => {
      pane.node.hidden = !pane.node.hidden;
      button.setAttribute('aria-pressed', String(!pane.node.hidden));
    }}, pane.stage);
    return button;
  });
}

// `chosen`: [stage, line] that the address names, or nothing.
async function irSection(job, mine, chosen) {
  const holder = h('section', {'aria-label': 'IR'});
  if (!job.access.ir) {
    holder.append(job.access.details && !token && !/machine/.test(job.access.why_not) ? tokenForm(job.access.why_not) : h('p.notice', job.access.why_not + '.'));
    return holder;
  }
  const address = `/api/jobs/${encodeURIComponent(job.id)}/ir`, texts = await fetchTexts(job);
  if (mine !== view) return holder;
  const name = fileStem(job);
  // A stage that not every target has is there or is not.
  const shown = texts.filter(one => one.text !== undefined || one.stage !== 'disassembly');
  const panes = shown.map(one => one.text === undefined ? missingPane(job, one.stage, one.why)
    : textPane(one.stage, one.format, one.note, one.text, name + '.' + one.format, placesOf(one.stage, linesOf(one.text), one.isInput)));
  const files = filesOf(panes.map(pane => pane.places)).filter(file => file !== OWN_TEXT);
  const holderOfPanes = h('div.panes'), reading = h('p.reading', {role: 'status'});
  const build = all => {
    holderOfPanes.replaceChildren(...all.map(pane => pane.node));
    return linkLines(all, reading, (stage, line) => history.replaceState(null, '', `#job/${encodeURIComponent(job.id)}/${stage}/${line}`));
  };
  if (files.length) panes.unshift(sourcePane(files[0], opened => {
    opened.places = [...opened.pre.children].map((line, i) => [files[0] + ':' + (i + 1)]);
    panes[0] = opened;
    build(panes);
  }));
  const choose = build(panes);
  const field = h('input', {type: 'search', 'aria-label': 'Mark lines in every stage', placeholder: 'mark lines with …'});
  field.value = search;
  field.addEventListener('input', () => { search = field.value; mark(panes); });
  holder.append(h('div.row.head', h('h2', 'IR, stage by stage'), ...stageButtons(panes), h('span.end', field)));
  if (job.request && job.outcome === 'OK' && !(job.made || []).length) holder.append(makeForm(job, address, mine));
  if (panes.filter(pane => pane.places.some(places => places.length)).length > 1)
    reading.textContent = 'Choose a line to see the lines of the other stages that come from the same place.';
  holder.append(reading, holderOfPanes);
  if (search) mark(panes);
  if (chosen) requestAnimationFrame(() => choose(...chosen));
  return holder;
}
