// SPDX-License-Identifier: Apache-2.0
// Which lines of a kernel's texts come from the same line of its source. Every stage names places in its own way; here each line
// of a text gets its places, "FILE:LINE". A kernel that came without locations has places in its own text, which
// the compiler calls OWN_TEXT. Nothing here touches the document.

const OWN_TEXT = 'tritond-ir';
const fileName = path => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);

// The text between `open` (the index of a parenthesis) and its partner; strings may hold parentheses.
function inParentheses(text, open) {
  let depth = 0, quoted = false;
  for (let i = open; i < text.length; ++i) {
    if (text[i] === '"' && text[i - 1] !== '\\') quoted = !quoted;
    if (quoted) continue;
    if (text[i] === '(') ++depth;
    if (text[i] === ')' && --depth === 0) return text.slice(open + 1, i);
  }
  return '';
}

// Of ttir and ttgir: `loc(#loc3)`, `loc("k.py":7:3)`, `loc(callsite(#loc1 at #loc2))`, `loc("name"(#loc3))`, `loc(fused[…])`.
function placesOfMlir(lines) {
  const aliases = new Map();
  for (const line of lines) {
    const alias = /^(#loc\w*) = loc\(/.exec(line);
    if (alias) aliases.set(alias[1], inParentheses(line, alias[0].length - 1));
  }
  const known = new Map();
  const resolve = (location, depth) => {
    if (known.has(location)) return known.get(location);
    if (depth > 50) return [];
    // Of a call the callee's place alone: later stages have no other.
    if (location.startsWith('callsite(')) {
      const text = inParentheses(location, location.indexOf('('));
      return resolve(text.slice(0, Math.max(0, text.lastIndexOf(' at '))), depth + 1);
    }
    const places = [];
    for (const part of location.matchAll(/"((?:[^"\\]|\\.)*)":(\d+)(?::\d+)?|(#loc\w*)/g)) {
      if (part[3]) places.push(...resolve(aliases.get(part[3]) || '', depth + 1));
      else if (part[2] !== '0') places.push(fileName(part[1]) + ':' + part[2]);
    }
    known.set(location, places);
    return places;
  };
  const found = [], open = [];
  lines.forEach((line, i) => {
    const at = line.lastIndexOf(' loc('), places = at < 0 || line.startsWith('#loc') ? [] : [...new Set(resolve(inParentheses(line, at + 4), 0))];
    found.push(places);
    // The location of an operation with regions comes after the last of them; the operation begins where its first one does.
    if (/^\s*\}/.test(line) && open.length) {
      const first = open.pop();
      if (/\{\s*$/.test(line)) open.push(first);
      else if (places.length) found[first] = places;
    } else if (/\{\s*(?:loc\(.*\))?$/.test(line)) open.push(i);
  });
  return found;
}

// Of llir: `!dbg !7`, whose location has a scope, whose file has a name.
function placesOfLlvm(lines) {
  const nodes = new Map();
  for (const line of lines) {
    const node = /^!(\d+) = (?:distinct )?!(DI\w+)\(/.exec(line);
    if (node) nodes.set(node[1], line);
  }
  const field = (node, name) => { const found = new RegExp('[(, ]' + name + ': (?:!(\\d+)|"([^"]*)"|(\\d+))').exec(nodes.get(node) || ''); return found ? found[1] || found[2] || found[3] : ''; };
  const fileOf = (scope, depth) => {
    const file = field(scope, 'file');
    return file ? fileName(field(file, 'filename')) : depth < 50 && nodes.has(field(scope, 'scope')) ? fileOf(field(scope, 'scope'), depth + 1) : '';
  };
  const known = new Map();
  const placeOf = node => {
    if (!known.has(node)) {
      const line = field(node, 'line'), file = fileOf(field(node, 'scope'), 0);
      known.set(node, line && line !== '0' && file ? [file + ':' + line] : []);
    }
    return known.get(node);
  };
  return lines.map(line => { const at = /, !dbg !(\d+)/.exec(line); return at ? placeOf(at[1]) : []; });
}

// Of assembly: `.loc FILE LINE COLUMN` holds up to the next one, `.file FILE ["FOLDER"] "NAME"` names the files.
function placesOfAssembly(lines) {
  const files = new Map();
  for (const line of lines) {
    const file = /^\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"/.exec(line);
    if (file) files.set(file[1], fileName(file[2]));
  }
  let now = [];
  return lines.map(line => {
    const location = /^\s*\.loc\s+(\d+)\s+(\d+)/.exec(line);
    if (location) now = location[2] === '0' || !files.has(location[1]) ? [] : [files.get(location[1]) + ':' + location[2]];
    if (/^\s*\.(?:file|section|visible|entry|func|version|target)\b/.test(line)) now = [];
    return /^\s*$|^\S/.test(line) ? [] : now;
  });
}

// Of disassembly: a comment `//## File "k.py", line 7` goes before the instructions; of several the first is the innermost.
function placesOfDisassembly(lines) {
  let now = [], inComment = false;
  return lines.map(line => {
    const comment = /^\s*\/\/## File "([^"]*)", line (\d+)/.exec(line);
    if (comment && !inComment) now = [fileName(comment[1]) + ':' + comment[2]];
    inComment = comment !== null;
    return comment || /^\s*\/\*[0-9a-f]{4,}\*\//.test(line) ? now : [];
  });
}

const PLACES = {ttir: placesOfMlir, ttgir: placesOfMlir, llir: placesOfLlvm, asm: placesOfAssembly, disassembly: placesOfDisassembly};

// For each line of the text the places that it comes from. `isInput`: a text without any place is a place itself.
function placesOf(stage, lines, isInput) {
  const places = (PLACES[stage] || (() => lines.map(() => [])))(lines);
  return isInput && places.every(one => one.length === 0) ? lines.map((line, i) => [OWN_TEXT + ':' + (i + 1)]) : places;
}

// The files that the places of some texts name, most named first.
function filesOf(lists) {
  const counts = new Map();
  for (const places of lists)
    for (const place of places.flat()) { const file = place.slice(0, place.lastIndexOf(':')); counts.set(file, (counts.get(file) || 0) + 1); }
  return [...counts].sort((a, b) => b[1] - a[1]).map(one => one[0]);
}
