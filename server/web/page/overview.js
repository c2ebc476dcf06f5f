// SPDX-License-Identifier: Apache-2.0
const jobLink = job => h('a', {href: '#job/' + encodeURIComponent(job.id), 'data-key': 'job' + job.id, title: job.label || job.id},
  job.label || job.id.slice(0, 13) + '…');

function tiles(data) {
  const r = data.requests, found = (r.hit || 0) + (r.joined || 0) + (r.error_hit || 0);
  const answered = found + (r.miss || 0) + (r.failed || 0);
  const queued = data.queues.reduce((sum, one) => sum + one.queued, 0), running = data.queues.reduce((sum, one) => sum + one.running, 0);
  const oldest = Math.max(0, ...data.queues.map(one => one.oldest_wait_ms));
  const attached = data.workers.filter(worker => worker.attached_unix_ms !== null);
  const tile = (title, value, unit, note) => h('section.card.tile', {'aria-label': title}, h('h2', title),
    h('div.value', value, unit ? h('small', ' ' + unit) : null), h('div.note', note));
  return h('div.grid.tiles',
    tile('Needed no compile', percent(found, answered), '', 'of ' + count(answered) + ' requests'),
    tile('Compiles', count((r.miss || 0)), '', count(r.failed || 0) + ' failed, ' + count(r.joined || 0) + ' joined'),
    tile('Queue', count(queued), 'waiting', running + ' running' + (queued ? ', oldest waits ' + span(oldest) : '')),
    tile('Workers', attached.filter(worker => worker.running.length).length + ' / ' + attached.length, 'busy',
         count(data.workers_lost) + ' lost since the start'),
    tile('Saved by hits', span(data.saved_cpu_s * 1000), '', 'of CPU time'),
    tile('Stored', bytes(data.cache.stored_bytes), '', count(data.cache.stored_results) + ' results' +
         (data.cache.stored_limit_bytes ? ', of ' + bytes(data.cache.stored_limit_bytes) : '')));
}

function queues(data) {
  const most = Math.max(1, ...data.queues.map(one => one.queued + one.running));
  return card('Queue', table(['Class', '', '#Waiting', '#Running', '#Oldest'], data.queues.map(one => [
    one.class, meter(one.queued + one.running, most, one.queued + ' waiting'), count(one.queued), count(one.running),
    one.queued ? span(one.oldest_wait_ms) : '–']), ''),
    data.tenants.length ? h('div.gap', h('h2', 'Tenants'),
      table(['Tenant', '#Waiting', '#Running'], data.tenants.map(one => [one.tenant || '(none)', count(one.queued), count(one.running)]), '')) : null);
}

function caches(data) {
  const failing = data.cache.levels.some(level => level.errors > 0);
  const levels = data.cache.levels.map(level => {
    const all = level.hits + level.misses + level.errors;
    return [level.name, meter(level.hits, all, percent(level.hits, all) + ' hits'), percent(level.hits, all), count(level.hits),
      count(level.misses), ...(failing ? [count(level.errors)] : [])];
  });
  const stores = data.cache.stores.map(store => [store.name,
    store.capacity_bytes ? meter(store.size_bytes, store.capacity_bytes, percent(store.size_bytes, store.capacity_bytes) + ' of ' + bytes(store.capacity_bytes)) : '',
    count(store.entries), bytes(store.size_bytes)]);
  return [card('Cache levels', table(['Level', '', '#Ratio', '#Hits', '#Misses', ...(failing ? ['#Errors'] : [])], levels, 'Nothing was looked up yet.')),
          card('Stores', table(['Store', '', '#Entries', '#Size'], stores, 'No stores.'))];
}

function workers(data) {
  const pill = worker => h('span.pill.' + ({idle: 'ok', busy: 'busy'}[worker.state] || 'warn'), worker.state);
  const job = worker => worker.running.length === 0 ? h('span.soft', '–') : worker.running.map(one => h('div', jobLink(one),
    h('span.soft', ` ${one.target}${one.stage ? ', ' + one.stage : ''}, ${span(data.now_unix_ms - one.started_unix_ms)}`)));
  const deaths = worker => worker.deaths && worker.last_death
    ? h('details', h('summary', count(worker.deaths)), h('pre.message', worker.last_death)) : count(worker.deaths);
  return card('Workers', table(['Worker', 'State', 'Now', 'Offers', '#Compiles', '#Memory', '#Deaths'], data.workers.map(worker => [
    h('td.name', {title: worker.build_id}, worker.name, h('div.soft', worker.where),
      worker.attached_unix_ms !== null && !worker.confinement && !worker.devices.length ? h('span.pill.warn', 'unconfined') : null), pill(worker), job(worker),
    h('td', {title: worker.targets.join(', ')}, worker.devices.length ? worker.devices.join(', ') : count(worker.targets.length) + ' targets'),
    count(worker.jobs_done), worker.resident_bytes ? bytes(worker.resident_bytes) : '–', deaths(worker)]),
    'No worker is attached: hits are served, everything else waits.'));
}

function cluster(data) {
  const c = data.cluster;
  const nodes = c.nodes.map(node => [h('code', node.address), h('span.pill.' + (node.answers ? 'ok' : 'bad'), node.trouble || (node.answers ? node.slow ? 'slow' : 'answers' : 'left alone')),
    count(node.slots), span(node.latency_ms), count(node.calls), count(node.failures)]);
  const fact = (name, value, note) => h('div', h('dt', name), h('dd', h('b', value), note ? h('span.soft', ' ' + note) : null));
  return [card('Cluster', h('dl',
    fact('This daemon', c.name), fact('Compiles for all', count(c.leases.held), 'now, ' + count(c.leases.granted) + ' leases had'),
    fact('Follows others', count(c.following), 'now, ' + count(c.followed) + ' answered'),
    fact('Jobs of its streams', count(c.jobs.offered), 'given, ' + count(c.jobs.taken) + ' taken'),
    fact('Compiled without a lease', count(c.unleased), c.leases.lost ? count(c.leases.lost) + ' leases lost' : ''),
    fact('Not shared', count(c.publish_failures), 'results that the engine did not take'))),
    card("Engine's nodes", table(['Node', 'State', '#Slots', '#Round trip', '#Calls', '#Failures'], nodes, 'No node is named.'))];
}

const outcomePill = job => h('span.pill.' + (job.outcome === 'OK' ? 'ok' : job.outcome === 'CANCELLED' ? 'warn' : 'bad'),
  job.outcome === 'OK' ? (job.recalled ? 'recalled' : job.followed ? 'followed' : 'compiled') : job.outcome.toLowerCase().replaceAll('_', ' '));

function jobs(data) {
  const words = job => [job.id, job.label, job.key, job.target, job.tenant, job.worker, job.followed, job.outcome, job.class].join(' ').toLowerCase();
  const list = () => {
    const wanted = data.jobs.filter(job => filter.toLowerCase().split(/\s+/).every(word => words(job).includes(word)));
    return table(['Kernel', 'Target', 'Tenant', 'Class', 'Outcome', '#Waited', '#Ran', '#Callers', 'Worker', '#Ended'], wanted.slice(0, 100).map(job => [
      h('td.name', jobLink(job)), job.target, job.tenant || '–', job.class, outcomePill(job), span(job.queue_ms), job.followed ? '–' : span(job.run_ms),
      count(job.callers), h('td.name', job.worker || '–', job.followed ? h('div.soft', 'of ' + job.followed) : null), clock(job.finished_unix_ms)]),
      data.jobs.length ? 'None fits the filter.' : 'Nothing was compiled yet.');
  };
  const holder = h('div', list());
  const field = h('input', {type: 'search', size: 28, 'data-key': 'filter', 'aria-label': 'Filter recent compiles', placeholder: 'filter: name, tenant, target …'});
  field.value = filter;
  field.addEventListener('input', () => { filter = field.value; holder.replaceChildren(list()); });
  return h('section.card', {'aria-label': 'Recent compiles'}, h('div.row.head', h('h2', 'Recent compiles'), h('span.end', field)), holder);
}

function head(data) {
  const [kind, text] = data.draining ? ['warn', 'draining'] : data.not_ready ? ['bad', data.not_ready]
    : data.degraded ? ['warn', data.degraded] : ['ok', 'ready'];
  const state = document.getElementById('state');
  if (state.textContent !== text) state.textContent = text;
  state.className = 'pill ' + kind;
  document.getElementById('version').textContent = data.version;
  document.getElementById('age').textContent = 'up ' + span(data.now_unix_ms - data.started_unix_ms);
}

function overview(data) {
  head(data);
  document.title = 'tritond';
  const section = (name, value, build) => {  // Rebuilt only when what it shows has changed, so that text can be selected.
    const text = JSON.stringify(value);
    if (!shown[name]) shown[name] = {node: h('div')};
    if (shown[name].text !== text) { shown[name].text = text; show(shown[name].node, build()); }
    return shown[name].node;
  };
  const nodes = [
    section('access', [data.access.details, data.access.why_not, token], () => data.access.details ? null :
      tokenForm('Names and messages are hidden: ' + data.access.why_not + '.')),
    section('tiles', [data.requests, data.queues, data.workers, data.saved_cpu_s, data.cache.stored_bytes], () => tiles(data)),
    section('charts', data.latency, () => h('div.grid.three', chart('Hits: time to find the answer', data.latency.hit, 'hits'),
      chart('Wait in the queue', data.latency.queue, 'begun'), chart('Compile time', data.latency.compile, 'compiles'))),
    section('queue', [data.queues, data.tenants, data.cache], () => h('div.grid.three', queues(data), caches(data))),
    section('cluster', data.cluster, () => data.cluster ? h('div.grid.two', cluster(data)) : null),
    section('workers', [data.workers, data.workers.some(worker => worker.running.length) ? data.now_unix_ms : 0],
            () => h('div.grid', workers(data))),
    section('tunings', data.tunings, () => data.tunings.length ? h('div.grid.three', data.tunings.map(tuningPlot)) : null),
    section('jobs', data.jobs, () => h('div.grid', jobs(data))),
  ];
  if (main.firstChild !== nodes[0]) main.replaceChildren(...nodes);
}

async function refresh(mine) {
  try {
    const data = await (await ask('/api/status')).json();
    if (mine !== view) return;
    overview(data);
  } catch (error) {
    if (mine !== view) return;
    const state = document.getElementById('state');
    state.textContent = 'no answer: ' + error.message;
    state.className = 'pill bad';
  }
  if (!document.hidden) timer = setTimeout(refresh, PERIOD_MS, mine);
}
