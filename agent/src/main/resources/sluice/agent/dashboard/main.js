// Puts together what the agent tells and what the page shows. The page is drawn once for each look, and when somebody asks for it.
import {at, clock, element, keyOf, nameOf, percent, say, show, size, some} from './text.js';
import * as colours from './colours.js';
import {Series} from './series.js';
import {Chart} from './chart.js';
import * as gpus from './gpus.js';
import * as tenants from './tenants.js';
import {Stream, answer, hasToken, isToken, setToken} from './agent.js';
import {toast, undoLast} from './edit.js';
import {apply} from './changes.js';

const MOST_EVENTS = 200, MOST_MEASURES = 300;
const series = new Series();
let look = null, live = false, historyFor = 0, chosenGpu = null, lastTook = 0;

const totalOf = () => look?.gpus.find(gpu => gpu.uuid === chosenGpu)?.totalBytes ?? 0;
const charts = [
  new Chart(at('memory-chart'), series, {field: 'used', text: size, floor: 1 << 20, ceiling: totalOf, label: 'Memory by tenant over time', empty: 'no tenant held memory'}),
  new Chart(at('share-chart'), series, {field: 'got', text: percent, floor: 1000, ceiling: () => 1000, label: 'Share of GPU time by tenant over time', empty: 'no tenant used the GPU'}),
];

function draw() {
  if (!look || document.hidden) return;
  headline();
  gpus.draw(look);
  show(at('over-time'), look.gpus.length > 0);
  gpuChoice();
  legend();
  charts.forEach(chart => { chart.uuid = chosenGpu; chart.draw(); });
  tenants.draw(look);
  findings();
}

let asked = false;
const soon = () => { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; draw(); }); } };

function headline() {
  const running = look.tenants.filter(tenant => tenant.running).length;
  const holders = look.gpus.map(gpu => [gpu.gpu, look.boards.filter(board => board.uuid === gpu.uuid && board.holder).map(board => board.holder)]).filter(([, names]) => names.length);
  const who = holders.length === 0 ? '' : holders.length > 3 ? ' ' + holders.length + ' GPUs are held.' : ' ' + holders.map(([gpu, names]) => names.join(' and ') + (names.length > 1 ? ' hold' : ' holds') + ' GPU ' + gpu).join(', ') + '.';
  const found = look.findings.length ? ' ' + some(look.findings.length, 'finding') + ' of the audit.' : '';
  say(at('headline'), (running === 0 ? 'No tenant runs' : some(running, 'tenant') + (running === 1 ? ' runs' : ' run')) + ' on ' + some(look.gpus.length, 'GPU') + '.' + who + found);
  document.title = (look.findings.length ? '(' + look.findings.length + ') ' : '') + running + ' on ' + some(look.gpus.length, 'GPU') + ' – Sluice';
  say(at('foot'), 'Look ' + look.look + ' of the agent; shown in ' + lastTook.toFixed(0) + ' ms. The same for programs: GET /v1/machine.');
}

function gpuChoice() {
  const choice = at('chart-gpu');
  const known = look.gpus.map(gpu => gpu.uuid);
  if (!known.includes(chosenGpu)) chosenGpu = known[0] ?? null;
  if (choice.dataset.known !== known.join()) {
    choice.dataset.known = known.join();
    choice.replaceChildren(...look.gpus.map(gpu => new Option('GPU ' + gpu.gpu + ' · ' + gpu.name, gpu.uuid, false, gpu.uuid === chosenGpu)));
    show(choice, known.length > 1);
  }
}

function legend() {
  const place = at('legend');
  const keys = colours.order();
  const others = [...series.tenants()].filter(key => !colours.has(key)).length;
  const wanted = keys.join('\n') + '\n' + others;
  if (place.dataset.keys !== wanted) {
    place.dataset.keys = wanted;
    place.replaceChildren();
    for (const key of keys) entry(place, key, nameOf(key));
    if (others) entry(place, 'others', some(others, 'other'));
  }
  for (const button of place.children) button.setAttribute('aria-pressed', String(colours.isLit(button.dataset.key)));
}

function entry(place, key, text) {
  const button = element('button', '', '', place);
  button.type = 'button';
  button.dataset.key = key;
  element('span', 'key', '', button).style.background = colours.css(key);
  button.append(text);
  button.addEventListener('pointerenter', event => { if (event.pointerType === 'mouse') colours.light(key); });
  button.addEventListener('pointerleave', event => { if (event.pointerType === 'mouse') colours.light(null); });
  button.addEventListener('click', event => { if (event.detail === 0 || event.pointerType !== 'mouse') colours.light(colours.isLit(key) ? null : key); });
}

function findings() {
  const place = at('findings');
  const text = JSON.stringify(look.findings);
  if (place.dataset.text === text) return;
  place.dataset.text = text;
  place.replaceChildren();
  for (const finding of look.findings) {
    const line = element('li', '', '', place);
    element('span', 'kind ' + (finding.kind === 'over' ? 'over' : 'unknown'), finding.kind, line);
    const what = element('span', '', '', line);
    element('b', '', 'process ' + finding.pid, what);
    const gpu = look.gpus.find(other => other.uuid === finding.uuid);
    what.append(' ' + (finding.command ? finding.command + ' ' : '') + 'holds ' + (finding.usedBytes < 0 ? 'memory' : size(finding.usedBytes)) + ' on ' + (gpu ? 'GPU ' + gpu.gpu : finding.uuid)
      + (finding.kind === 'over' ? '; the ledger of ' + finding.tenant + ' says ' + size(finding.ledgerBytes) : ', in no ledger')
      + (finding.container ? '; container ' + finding.container.slice(0, 12) : '') + '; since ' + clock(finding.sinceNanos / 1e6) + '; ' + finding.action);
  }
  show(at('no-findings'), look.findings.length === 0);
}

function event(told) {
  const line = document.createElement('li');
  const time = element('time', '', clock(told.atNanos / 1e6), line);
  time.dateTime = new Date(told.atNanos / 1e6).toISOString();
  element('span', 'kind ' + told.kind.replace(/[^a-z]/g, ''), told.kind, line);
  const text = element('span', '', '', line);
  if (told.tenant) element('b', '', told.tenant + ' ', text);
  text.append(told.text);
  at('events').prepend(line);
  while (at('events').children.length > MOST_EVENTS) at('events').lastChild.remove();
  show(at('no-events'), false);
}

// read: gives the next look, or null when the changes are not those of the look that is here
function see(read) {
  const began = performance.now(), next = read();
  if (!next) { stream.again(); return; }
  look = next;
  const sizes = new Map();
  for (const tenant of look.tenants) if (tenant.running) sizes.set(keyOf(tenant.uid, tenant.tenant), tenant.gpus.reduce((sum, gpu) => sum + gpu.usedBytes, 0));
  series.add(look);
  const shown = series.tenants();
  colours.assign(sizes, key => sizes.has(key) || shown.has(key));
  gpus.see(look);
  draw();
  void document.body.offsetHeight;
  lastTook = performance.now() - began;
  performance.measure('update', {start: began, end: performance.now()});
  if (performance.getEntriesByName('update').length > MOST_MEASURES) performance.clearMeasures('update');
  state(true, 'live · ' + clock(look.atNanos / 1e6));
  if (historyFor !== series.span) fetchHistory();
}

async function fetchHistory() {
  const span = historyFor = series.span;
  try {
    const told = await answer('/v1/history?from=' + series.from(series.now) + '&step=' + series.step);
    if (span !== series.span) return;
    series.load(told);
    soon();
  } catch {
    // What is seen from now on is shown all the same.
  }
}

function choose(span) {
  for (const button of document.querySelectorAll('[data-span]')) button.setAttribute('aria-pressed', String(Number(button.dataset.span) === span));
  series.reset(span);
  if (look) { series.add(look); fetchHistory(); }
  soon();
}

function state(isLive, text) {
  live = isLive;
  const place = at('state');
  place.className = 'state ' + (isLive ? 'live' : 'gone');
  say(place, text);
  if (isLive) show(at('notice'), false);
}

function notice(text) {
  say(at('notice'), text);
  show(at('notice'), true);
}

let refused = false;
const stream = new Stream({
  open() {
    refused = false;
    historyFor = 0;
    audited();
  },
  message(kind, text) {
    if (kind === 'machine') see(() => JSON.parse(text));
    else if (kind === 'changes') see(() => apply(look, JSON.parse(text)) ? look : null);
    else if (kind === 'event') event(JSON.parse(text));
  },
  refused(status, text) {
    refused = true;
    if (status === 401 && hasToken()) { setToken(''); tokenState(); }
    state(false, 'not let in');
    notice(status === 401 ? 'This agent shows itself only to who has its token. Press t, or the button above, and give it.' : text || 'The agent answered ' + status + '.');
  },
  gone(seconds) {
    gpus.lose();
    if (refused) return;
    state(false, 'agent gone');
    notice('The agent does not answer' + (look ? '; what is below was so at ' + clock(look.atNanos / 1e6) : '') + '. Jobs go on without it, and their limits hold. '
      + 'Start it with “sluice agent”; this page tries again every ' + (seconds === 1 ? 'second' : seconds + ' seconds') + '.');
  },
});

async function audited() {
  try {
    const told = await answer('/v1/audit');
    say(at('no-findings'), told.audited ? 'No process holds GPU memory outside its ledger.' : 'There is no NVML on this machine, so the audit cannot look who uses its GPUs.');
  } catch {
    // The findings themselves come with each look.
  }
}

function tokenState() {
  say(at('token-open'), hasToken() ? 'May change limits' : 'Read-only: give token');
  show(at('token-drop'), hasToken());
  soon();
}

async function takeToken() {
  const text = at('token-text').value.trim();
  let right = false;
  try {
    right = /^[\x21-\x7e]+$/.test(text) && await isToken(text);
    say(at('token-error'), right ? '' : 'The agent does not know this token; its token file has the right one.');
  } catch {
    say(at('token-error'), 'The agent does not answer.');
  }
  if (!right) return;
  setToken(text);
  at('token').close();
  tokenState();
  if (!live) stream.again();
}

function openToken() {
  at('token-text').value = '';
  say(at('token-error'), '');
  at('token').showModal();
  at('token-text').focus();
}

at('token-open').addEventListener('click', openToken);
at('token-yes').addEventListener('click', takeToken);
at('token-text').addEventListener('keydown', pressed => { if (pressed.key === 'Enter') takeToken(); });
at('token-no').addEventListener('click', () => at('token').close());
at('token-drop').addEventListener('click', () => { setToken(''); at('token').close(); tokenState(); });
at('help-open').addEventListener('click', () => at('help').showModal());
at('help-close').addEventListener('click', () => at('help').close());
at('undo').addEventListener('click', undoLast);
at('toast-close').addEventListener('click', () => show(at('toast'), false));
at('chart-gpu').addEventListener('change', () => { chosenGpu = at('chart-gpu').value; soon(); });
for (const button of document.querySelectorAll('[data-span]')) button.addEventListener('click', () => choose(Number(button.dataset.span)));
document.addEventListener('visibilitychange', soon);
addEventListener('resize', soon);
colours.whenChanged(soon);
document.addEventListener('keydown', pressed => {
  if (pressed.ctrlKey || pressed.altKey || pressed.metaKey || pressed.target.closest('input, select, dialog')) return;
  const does = {'/': () => at('filter').focus(), '?': () => at('help').showModal(), t: openToken, u: undoLast, 1: () => choose(600), 2: () => choose(3600), 3: () => choose(21600)}[pressed.key];
  if (does) { pressed.preventDefault(); does(); }
});
tenants.start(soon, after => {
  const index = look.tenants.findIndex(tenant => tenant.tenant === after.tenant && tenant.uid === after.uid);
  if (index >= 0) look.tenants[index] = {...after, id: look.tenants[index].id};
  soon();
});
tokenState();
show(at('no-findings'), true);
