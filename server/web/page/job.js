// SPDX-License-Identifier: Apache-2.0
// A word of a POSIX shell, whatever it holds.
const quoted = word => /^[\w@%+=:,.\/-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
// name=value of each option of the request, as --option takes them.
const optionsOf = job => Object.entries((job.request && job.request.options) || {})
  .map(([name, value]) => name + '=' + (typeof value === 'string' ? value : JSON.stringify(value)));
// A file name without its extension for what belongs to the job.
const fileStem = job => (job.label || '').replace(/[^\w.-]+/g, '_').replace(/^[-.]+/, '') || 'kernel';
// The command that compiles the job's request again. It first fetches the kernel as it was sent, where this machine may have it.
function emitCommand(job, stage) {
  const request = job.request || {}, input = request.input || 'ttir', file = fileStem(job) + '.' + input;
  const words = ['triton-client', ...serverWords(), 'compile', file, '--target', job.target];
  for (const option of optionsOf(job)) words.push('--option', option);
  if (request.launch_abi && request.launch_abi !== 'both') words.push('--launch-abi', request.launch_abi);
  if (request.descriptor_flags !== undefined && request.descriptor_flags !== 1) words.push('--descriptor-flags', String(request.descriptor_flags));
  if (request.host_tensor_maps) words.push('--host-tensor-maps');
  if (request.debug_info) words.push('--debug-info');
  words.push('--emit', stage, '-o', fileStem(job) + '.' + (stage === 'binary' ? 'bin' : stage));
  const compile = words.map(quoted).join(' ');
  return job.request && job.access.ir && !token
    ? ['curl', '-sf', `${location.origin}/api/jobs/${encodeURIComponent(job.id)}/ir/${input}`, '-o', file].map(quoted).join(' ') + ' && ' + compile : compile;
}
// How the client finds this daemon, unless it is where the client looks by itself.
function serverWords() {
  const address = addresses.includes('127.0.0.1:7433') ? undefined : addresses[0];
  return address ? ['--server', address.replace(/^(?:0\.0\.0\.0|\[::\]):/, '127.0.0.1:')] : [];
}
// What makes a failure again.
function reproduction(job) {
  const command = emitCommand(job, ((job.request && job.request.outputs) || ['binary']).join(','));
  return card('To reproduce it', h('code.command', command), copyButton(command, 'Copy command'));
}
function copyButton(text, name) {
  const button = h('button', {type: 'button', onclick: async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = 'copied'; } catch (error) { button.textContent = 'not allowed'; }
    setTimeout(() => { button.textContent = name; }, 1500);
  }}, name);
  return button;
}
function saveButton(text, file) {
  return h('button', {type: 'button', onclick: () => {
    const link = h('a', {download: file, href: URL.createObjectURL(new Blob([text], {type: 'text/plain'}))});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }}, 'Save');
}

// What the kernel takes of the device, by name; null where nothing is known.
function resourcesOf(job) {
  const r = job.resources || {}, known = value => value !== undefined && value !== null;
  return {
    'Shared memory': known(r.shared_bytes) ? bytes(r.shared_bytes) : null,
    'Registers': known(r.registers) ? count(r.registers) + ' a thread' : null,
    'Spills': known(r.local_bytes) ? (r.local_bytes ? bytes(r.local_bytes) + ' of local memory a thread' : 'none') : null,
    'Occupancy': known(r.warps) && r.most_warps ? `${percent(r.warps, r.most_warps)}: ${r.warps} of ${r.most_warps} warps, limited by ${r.limit}` : null,
  };
}
function facts(job) {
  const fact = (name, value) => value === null || value === undefined || value === '' ? null : h('div', h('dt', name), h('dd', value));
  return card('Job', h('dl',
    fact('Target', job.target), fact('Tenant', job.tenant), fact('Class', job.class), fact('Worker', job.worker), fact('Compiled by', job.followed),
    fact('Options', optionsOf(job).join(', ')),
    Object.entries(resourcesOf(job)).map(([name, value]) => fact(name, value)),
    fact('Callers', job.callers === undefined ? job.waiters + ' waiting' : count(job.callers)), fact('Attempts', job.attempts),
    fact('Ended', job.finished_unix_ms ? new Date(job.finished_unix_ms).toLocaleString('en-GB') : null),
    fact('CPU time', job.cpu_s ? span(job.cpu_s * 1000) : null),
    fact('Peak memory', job.peak_memory_bytes ? bytes(job.peak_memory_bytes) : null),
    fact('Cache', job.state !== 'ended' ? 'not there: compiling' : job.recalled ? 'found in another spelling' : job.followed ? 'missed; another daemon compiled it meanwhile' : job.outcome === 'OK' ? 'missed; stored since' : 'missed; nothing stored'),
    fact('Signed with key', job.signer ? h('code', {title: job.signer}, job.signer.slice(0, 16)) : null),
    fact('Job id', h('code', job.id)), fact('Request key', job.key ? h('code', job.key) : null),
    job.build_id ? h('div.all', h('dt', 'Compiler'), h('dd', h('code', job.build_id))) : null));
}

function stageTimes(job) {
  const stages = (job.stages || []).map((stage, i) => [stage.stage, stage.ms, 'c' + i % 6]);
  // The stages of a followed job ran while it waited, on another daemon's clock.
  const parts = job.followed ? stages : [['waited', job.queue_ms, 'cq'], ...stages];
  const known = parts.reduce((sum, part) => sum + part[1], 0), rest = job.queue_ms + job.run_ms - known;
  if (rest > 0.05 && !job.followed) parts.push(['hand-over and storing', rest, 'cq']);
  const total = parts.reduce((sum, part) => sum + part[1], 0) || 1;
  const bar = h('div.stages', {role: 'img', 'aria-label': parts.map(part => part[0] + ' ' + span(part[1])).join(', ')},
    parts.map(([name, ms, colour]) => { const piece = h('span.' + colour, {title: name + ' ' + span(ms)}); piece.style.flexGrow = ms / total; return piece; }));
  const note = job.followed ? h('p.soft', `Waited ${span(job.queue_ms)} for ${job.followed}, where it took:`) : null;
  return card('Time', note, bar, h('div.legend', parts.map(([name, ms, colour]) => h('span', h('i.' + colour), name + ' ', h('b', span(ms))))));
}

// `chosen`: [stage, line], see irSection.
async function jobPage(id, mine, chosen) {
  let job;
  try {
    job = await (await ask('/api/jobs/' + encodeURIComponent(id))).json();
  } catch (error) {
    if (mine !== view) return;
    main.replaceChildren(h('p', h('a', {href: '#'}, '← All jobs')), error.status === 401 || error.status === 403
      ? tokenForm('This job is not shown: ' + error.message + '.') : h('p.notice.bad', `Job ${id}: ${error.message}.`));
    return;
  }
  if (mine !== view) return;
  document.title = (job.label || 'job') + ' – tritond';
  const pill = job.state === 'ended' ? outcomePill(job) : h('span.pill.busy', job.state + (job.stage ? ': ' + job.stage : ''));
  const nodes = [h('p', h('a', {href: '#'}, '← All jobs')), h('div.row.head', h('h2', {id: 'job-title'}, job.label || job.id), pill, h('span.end', compareForm(job, recent) || ''))];
  if (job.message) nodes.push(h('div.notice.bad', h('b', job.reason || job.outcome), h('pre.message', job.message)));
  if ((job.diagnostics || []).length) nodes.push(h('div.grid', card('Diagnostics', h('pre.message', job.diagnostics.join('\n')))));
  nodes.push(h('div.grid', facts(job)));
  if (job.state === 'ended') nodes.push(h('div.grid', stageTimes(job)));
  if (job.state === 'ended' && job.outcome !== 'OK' && job.request) nodes.push(h('div.grid', reproduction(job)));
  main.replaceChildren(...nodes);
  if (job.state !== 'ended') { timer = setTimeout(jobPage, PERIOD_MS, id, mine); return; }
  const ir = await irSection(job, mine, chosen);
  if (mine === view) main.append(ir);
}
