// SPDX-License-Identifier: Apache-2.0
async function ask(path, method = 'GET') {
  const headers = token ? {Authorization: 'Bearer ' + token} : {};
  if (method !== 'GET') headers['X-Tritond-Intent'] = 'page';
  const answer = await fetch(path, {method, headers});
  if (answer.ok) return answer;
  let why = answer.statusText;
  try { why = (await answer.json()).error || why; } catch (ignored) { /* no JSON: the status says it */ }
  throw Object.assign(new Error(why), {status: answer.status});
}

function tokenForm(why) {
  const field = h('input', {type: 'password', autocomplete: 'off', 'aria-label': 'Access token', placeholder: 'token'});
  return h('form.row.notice', {onsubmit: event => { event.preventDefault(); token = field.value; shown = {}; route(); }},
    h('span', why), field, h('button', {type: 'submit'}, 'Show details'));
}
