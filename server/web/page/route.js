// SPDX-License-Identifier: Apache-2.0
// Which page the address names: nothing, #job/ID[/STAGE/LINE], #compare/ID/ID[/STAGE].

const decoded = text => { try { return decodeURIComponent(text); } catch (error) { return text; } };

async function route() {
  clearTimeout(timer);
  const mine = ++view, [kind, ...parts] = location.hash.slice(1).split('/').map(decoded);
  const onJob = kind === 'job' && parts.length > 0, onPair = kind === 'compare' && parts.length > 1;
  document.body.classList.toggle('wide', onJob || onPair);
  if (!onJob && !onPair) {
    shown = {};
    refresh(mine);
    return;
  }
  try {
    const data = await (await ask('/api/status')).json();
    head(data);
    recent = data.jobs;
    addresses = data.addresses || [];
  } catch (error) { /* The page itself says what is wrong. */ }
  if (mine !== view) return;
  if (onPair) return comparePage(parts.slice(0, 2), parts[2], mine);
  const line = Number(parts[parts.length - 1]), named = parts.length > 2 && line > 0;
  jobPage((named ? parts.slice(0, -2) : parts).join('/'), mine, named ? [parts[parts.length - 2], line] : undefined);
}
addEventListener('hashchange', route);
document.addEventListener('visibilitychange', () => { if (!document.hidden && !/^#(job|compare)/.test(location.hash)) { clearTimeout(timer); refresh(view); } });
route();
