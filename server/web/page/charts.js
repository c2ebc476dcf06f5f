// SPDX-License-Identifier: Apache-2.0
function niceMax(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map(step => step * power).find(step => step >= value);
}

function chart(title, points, what) {
  const width = 360, height = 132, left = 46, bottom = 18, plot = height - bottom - 6;
  const used = points.filter(point => point[1] > 0);
  const max = niceMax(Math.max(0.001, ...used.map(point => point[3]))), most = Math.max(1, ...points.map(point => point[1]));
  const x = i => left + (width - left) * (i + 0.5) / points.length, y = ms => 6 + plot * (1 - ms / max);
  const svg = s('svg', {class: 'chart', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img'});
  const last = used[used.length - 1];
  const read = point => point === undefined ? 'nothing lately'
    : `${clock(point[0])}  ${count(point[1])} ${what}` + (point[1] ? `, median ${span(point[2])}, 95 % ${span(point[3])}` : '');
  svg.setAttribute('aria-label', title + ': ' + read(last));
  for (const part of [0, 0.5, 1]) {
    svg.append(s('line', {class: 'grid-line', x1: left, x2: width, y1: y(max * part), y2: y(max * part)}),
               s('text', {x: left - 6, y: y(max * part) + 4, 'text-anchor': 'end'}, part ? span(max * part) : '0'));
  }
  if (points.length) {
    svg.append(s('text', {x: left, y: height - 3}, clock(points[0][0]).slice(0, 5)),
               s('text', {x: width, y: height - 3, 'text-anchor': 'end'}, 'now'));
  }
  const step = (width - left) / Math.max(1, points.length);
  points.forEach((point, i) => {
    const tall = point[1] ? Math.max(1, plot * 0.3 * point[1] / most) : 0;
    if (tall) svg.append(s('rect', {class: 'count', x: x(i) - step * 0.4, width: step * 0.8, y: 6 + plot - tall, height: tall}));
  });
  let run = [];
  const flush = () => {  // Points with nothing between them are joined; intervals in which nothing happened are gaps.
    if (run.length === 1) svg.append(s('circle', {class: 'dot', cx: x(run[0]), cy: y(points[run[0]][2]), r: 2.5}));
    if (run.length > 1) {
      const line = k => run.map(i => `${x(i)} ${y(points[i][k])}`).join('L');
      svg.append(s('path', {class: 'tail', d: `M${line(3)}L${x(run[run.length - 1])} ${y(0)}L${x(run[0])} ${y(0)}Z`}),
                 s('path', {class: 'high', d: 'M' + line(3)}), s('path', {class: 'median', d: 'M' + line(2)}));
    }
    run = [];
  };
  points.forEach((point, i) => { if (point[1] > 0) run.push(i); else flush(); });
  flush();
  const reading = h('div.reading', read(last)), cursor = s('line', {class: 'cursor', y1: 6, y2: 6 + plot, visibility: 'hidden'});
  svg.append(cursor);
  svg.addEventListener('pointermove', event => {
    const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) / box.width * width;
    const i = Math.max(0, Math.min(points.length - 1, Math.floor((at - left) / step)));
    cursor.setAttribute('x1', x(i)); cursor.setAttribute('x2', x(i)); cursor.setAttribute('visibility', 'visible');
    reading.textContent = read(points[i]);
  });
  svg.addEventListener('pointerleave', () => { cursor.setAttribute('visibility', 'hidden'); reading.textContent = read(last); });
  svg.removeAttribute('preserveAspectRatio');
  return card(title, svg, reading);
}

// One dot a candidate, the winner filled; times on a logarithmic scale, since bad candidates take many times as long.
function tuningPlot(tuning) {
  const width = 360, height = 132, left = 46, bottom = 18, plot = height - bottom - 6;
  const timed = tuning.candidates.map((one, i) => ({name: one[0], us: one[1], spread: one[2], i})).filter(one => one.us > 0);
  const svg = s('svg', {class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img'});
  const low = Math.log(Math.min(...timed.map(one => one.us))), high = Math.max(low + 0.02, Math.log(Math.max(...timed.map(one => one.us))));
  const x = i => left + (width - left) * (i + 0.5) / tuning.candidates.length, y = us => 6 + plot * (1 - (Math.log(us) - low) / (high - low));
  const read = one => one ? `${one.name}: ${one.us.toFixed(2)} µs ± ${one.spread.toFixed(2)}` : 'nothing timed yet';
  const best = timed.find(one => one.i === tuning.winner) || timed.reduce((a, b) => a && a.us <= b.us ? a : b, undefined);
  svg.setAttribute('aria-label', 'Times of the candidates. ' + read(best));
  for (const part of timed.length ? [0, 0.5, 1] : []) {
    const us = Math.exp(low + (high - low) * part);
    svg.append(s('line', {class: 'grid-line', x1: left, x2: width, y1: y(us), y2: y(us)}),
               s('text', {x: left - 6, y: y(us) + 4, 'text-anchor': 'end'}, span(us / 1000)));
  }
  const reading = h('div.reading', read(best));
  for (const one of timed) {
    const dot = s('circle', {class: one.i === tuning.winner ? 'dot winner' : 'dot', cx: x(one.i), cy: y(one.us), r: one.i === tuning.winner ? 4 : 2.5});
    dot.addEventListener('pointerenter', () => { reading.textContent = read(one); });
    dot.addEventListener('pointerleave', () => { reading.textContent = read(best); });
    svg.append(dot);
  }
  const states = {};
  for (const one of tuning.candidates) states[one[3]] = (states[one[3]] || 0) + 1;
  const pill = h('span.pill.' + ({running: 'busy', done: 'ok'}[tuning.state] || 'bad'), tuning.state);
  return card(tuning.label || 'key ' + tuning.key.slice(0, 12), h('div', pill, h('span.soft', ' on ' + tuning.device)), svg, reading,
    h('div.soft', Object.entries(states).map(([state, number]) => count(number) + ' ' + state).join(', ')));
}
