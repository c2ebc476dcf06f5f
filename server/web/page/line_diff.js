// SPDX-License-Identifier: Apache-2.0
// What differs between two texts, line by line: Myers' algorithm ("An O(ND) Difference Algorithm", 1986). Nothing here touches
// the document.

const MOST_EDITS = 2000;  // Its time and memory grow with the square of these.

// Lines that say the same: addresses, locations, debug information and the numbers of values do not count.
const sameness = line => line.replace(/ loc\(.*\)$/, '').replace(/, !dbg !\d+/, '').replace(/^(\s*\.loc).*/, '$1').replace(/([%!#][a-z]*)\d+/g, '$1').replace(/^\s*\/\*[0-9a-f]{4,}\*\//, '')
  .replace(/\s*\/\* 0x[0-9a-f]+ \*\/\s*$/, '').trim();

// The pairs [i, j] of equal lines, in order; null when the texts differ in more than MOST_EDITS lines.
function commonLines(a, b) {
  const most = Math.min(a.length + b.length, MOST_EDITS), furthest = new Map([[1, 0]]), history = [];
  for (let edits = 0; edits <= most; ++edits) {
    history.push(new Map(furthest));
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
      let x = down ? furthest.get(k + 1) ?? 0 : (furthest.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) ++x;
      furthest.set(k, x);
      if (x >= a.length && x - k >= b.length) return tracedBack(history, a.length, b.length);
    }
  }
  return null;
}
function tracedBack(history, x, y) {
  const pairs = [];
  for (let edits = history.length - 1; edits >= 0; --edits) {
    const furthest = history[edits], k = x - y;
    const down = k === -edits || (k !== edits && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1));
    const before = down ? k + 1 : k - 1, fromX = furthest.get(before) ?? 0, fromY = fromX - before;
    while (x > fromX && y > fromY && x > 0 && y > 0) pairs.push([--x, --y]);
    if (edits > 0) [x, y] = [fromX, fromY];
  }
  return pairs.reverse();
}

// Rows [i, j, kind]: line i of the one beside line j of the other, -1 for none; kind is 'same' or 'changed'. Lines that were
// removed and added at one place lie beside each other. Null as above.
function diffRows(one, other) {
  const a = one.map(sameness), b = other.map(sameness);
  let start = 0, end = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) ++start;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) ++end;
  const middle = commonLines(a.slice(start, a.length - end), b.slice(start, b.length - end));
  if (middle === null) return null;
  const pairs = [];
  for (let i = 0; i < start; ++i) pairs.push([i, i]);
  for (const [i, j] of middle) pairs.push([i + start, j + start]);
  for (let i = end; i > 0; --i) pairs.push([a.length - i, b.length - i]);
  const rows = [];
  let i = 0, j = 0;
  for (const [nextI, nextJ] of [...pairs, [a.length, b.length]]) {
    while (i < nextI || j < nextJ) rows.push([i < nextI ? i++ : -1, j < nextJ ? j++ : -1, 'changed']);
    if (i < a.length && j < b.length) rows.push([i++, j++, 'same']);
  }
  return rows;
}
