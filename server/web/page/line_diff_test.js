// SPDX-License-Identifier: Apache-2.0
// Rows as text: "1=1", "2!", "!3".
const shownRows = (a, b) => { const rows = diffRows(a, b); return rows && rows.map(([i, j, kind]) => `${i < 0 ? '' : i}${kind === 'same' ? '=' : '!'}${j < 0 ? '' : j}`).join(' '); };
const words = text => text.split(' ').filter(word => word);

test('equal texts have equal rows', () => equal(shownRows(words('a b c'), words('a b c')), '0=0 1=1 2=2'));
test('what changes at one place lies side by side', () => equal(shownRows(words('a b c'), words('a x y c')), '0=0 1!1 !2 2=3'));
test('a removed line has nothing beside it', () => equal(shownRows(words('a b c'), words('a c')), '0=0 1! 2=1'));
test('an added line has nothing beside it', () => equal(shownRows(words('a c'), words('a b c')), '0=0 !1 1=2'));
test('a text and nothing', () => { equal(shownRows([], words('a b')), '!0 !1'); equal(shownRows(words('a'), []), '0!'); equal(shownRows([], []), ''); });
test('every row of random texts is right, and no diff is longer than both texts', () => {
  let state = 7;
  const random = n => { state = (state * 48271) % 2147483647; return state % n; };
  for (let round = 0; round < 300; ++round) {
    const a = Array.from({length: random(12)}, () => 'abc'[random(3)]), b = Array.from({length: random(12)}, () => 'abc'[random(3)]);
    const rows = diffRows(a, b);
    equal(rows.map(row => row[0]).filter(i => i >= 0), a.map((line, i) => i));
    equal(rows.map(row => row[1]).filter(i => i >= 0), b.map((line, i) => i));
    equal(rows.every(([i, j, kind]) => kind !== 'same' || a[i] === b[j]), true);
  }
});
test('texts without anything in common are given up', () => {
  const many = prefix => Array.from({length: 3000}, (none, i) => prefix + 'x'.repeat(i % 50) + String.fromCharCode(97 + i % 26));
  equal(diffRows(many('p'), many('q')), null);
});
test('addresses, locations and numbers of values do not count', () => {
  for (const [one, other] of [['  %3 = tt.load %2 loc(#loc7)', '  %9 = tt.load %8 loc(#loc)'], ['        /*0010*/   EXIT ;', '        /*0020*/   EXIT ;'],
    ['  ret void, !dbg !9', '  ret void, !dbg !11'], ['\tadd.s32 %r7, %r8, 1;', '\tadd.s32 %r1, %r2, 1;']]) equal(sameness(one), sameness(other));
  for (const [one, other] of [['add %r1, 1', 'add %r1, 2'], ['LDG.E R1', 'LDG.E.128 R1']]) equal(sameness(one) === sameness(other), false);
});
