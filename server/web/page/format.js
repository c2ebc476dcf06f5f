// SPDX-License-Identifier: Apache-2.0
const number = new Intl.NumberFormat('en-US');
const count = value => number.format(value);
function bytes(value) {
  for (const [unit, size] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]])
    if (value >= size) return Number((value / size).toFixed(value >= 100 * size ? 0 : 1)) + ' ' + unit;
  return value + ' B';
}
function span(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms === 0) return '0';
  if (ms < 0.1) return Math.max(1, Math.round(ms * 1000)) + ' µs';
  if (ms < 10) return Number(ms.toPrecision(3)) + ' ms';
  if (ms < 1000) return ms.toFixed(0) + ' ms';
  if (ms < 60000) return Number((ms / 1000).toFixed(1)) + ' s';
  const minutes = Math.floor(ms / 60000), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  if (hours === 0) return minutes + ' min ' + Math.floor(ms / 1000) % 60 + ' s';
  return days === 0 ? hours + ' h ' + minutes % 60 + ' min' : days + ' d ' + hours % 24 + ' h';
}
const clock = ms => new Date(ms).toLocaleTimeString('en-GB');
const percent = (part, whole) => whole === 0 ? '–' : (100 * part / whole).toFixed(part === whole ? 0 : 1) + ' %';
