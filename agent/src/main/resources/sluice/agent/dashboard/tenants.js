// The table of tenants: a row for each GPU that one uses. Only cells whose text has changed are touched.
import {at, count, element, keyOf, percent, say, show, size, some} from './text.js';
import * as colours from './colours.js';
import {LIMITS} from './limits.js';
import {hasToken} from './agent.js';
import {edit} from './edit.js';
import {buttons, stateOf} from './pause.js';

const waited = (tenant, i) => (tenant.rates[i]?.capWaitedPermille ?? 0) + (tenant.rates[i]?.turnWaitedPermille ?? 0);
const submitted = row => row.tenant.rates[row.at]?.submittedPerSecond ?? 0;
const errors = tenant => tenant.errors.reduce((sum, error) => sum + error.count, 0);

// name, sort value, text; part: a bar below, from 0 to 1; limit: can be changed; alarm: whether it is bad
const COLUMNS = [
  {name: 'Tenant', sort: row => row.tenant.tenant},
  {name: 'Memory', sort: row => row.gpu?.usedBytes ?? 0, text: row => row.gpu ? size(row.gpu.usedBytes) : '–',
    part: row => row.gpu ? row.gpu.usedBytes / (LIMITS.memory.value(row.tenant, row.gpu) || row.gpu.totalBytes || 1) : 0},
  {name: 'Limit', limit: 'memory'},
  {name: 'Peak', sort: row => row.gpu?.peakBytes ?? 0, text: row => row.gpu ? size(row.gpu.peakBytes) : '–'},
  {name: 'Share', sort: row => row.got, text: row => row.tenant.state !== 'ended' ? percent(row.got) : '–', part: row => Math.max(0, row.got) / (LIMITS.compute.value(row.tenant, row.gpu) || 1000)},
  {name: 'Cap', limit: 'compute'},
  {name: 'Weight', limit: 'weight'},
  {name: 'Priority', limit: 'priority'},
  {name: 'Waits', sort: row => waited(row.tenant, row.at), text: row => row.got < 0 ? '–' : percent(waited(row.tenant, row.at))},
  {name: 'Work/s', sort: row => submitted(row), text: row => row.got < 0 ? '–' : count(submitted(row))},
  {name: 'Refused', sort: row => row.gpu?.refusedCalls ?? 0, text: row => row.gpu ? count(row.gpu.refusedCalls) : '–', alarm: true},
  {name: 'Errors', sort: row => errors(row.tenant), text: row => count(errors(row.tenant)), alarm: true},
];

const rows = new Map();
let sorted = {column: -1, falling: true};
let redraw = () => {};
let told = () => {};

export function start(again, changed) {
  redraw = again;
  told = changed;
  const head = element('tr', '', '', document.querySelector('#tenant-table thead'));
  COLUMNS.forEach((column, i) => {
    const cell = element('th', '', '', head);
    cell.scope = 'col';
    element('button', '', column.name, cell).addEventListener('click', () => {
      sorted = {column: i, falling: sorted.column === i ? !sorted.falling : i > 0};
      [...head.children].forEach((other, at) => at === i ? other.setAttribute('aria-sort', sorted.falling ? 'descending' : 'ascending') : other.removeAttribute('aria-sort'));
      redraw();
    });
  });
  at('filter').addEventListener('input', () => redraw());
  at('ended').addEventListener('change', () => redraw());
}

function made(key) {
  const line = document.createElement('tr');
  const row = {line, cells: []};
  COLUMNS.forEach((column, i) => {
    const cell = element('td', i === 0 ? 'name' : '', '', line);
    cell.dataset.label = column.name;
    const parts = {cell};
    if (i === 0) {
      parts.key = element('span', 'key', '', cell);
      parts.text = element('span', 'text', '', cell);
      parts.small = element('small', '', '', cell);
      parts.buttons = element('span', 'pauses', '', cell);
    } else if (column.limit) {
      parts.text = element('button', 'limit', '', cell);
      parts.text.addEventListener('click', () => edit(cell, row.data.tenant, row.data.gpu, column.limit, told));
    } else {
      parts.text = element('span', '', '', cell);
      if (column.part) parts.bar = element('i', '', '', element('span', 'track', '', cell));
    }
    row.cells.push(parts);
  });
  line.addEventListener('pointerenter', () => colours.light(key));
  line.addEventListener('pointerleave', () => colours.light(null));
  return row;
}

// What runs; of a claim of a cluster, which pod, container and claim: the command begins with the first pod that used it.
function useOf(tenant) {
  const {claim, command} = tenant;
  if (!claim) return command;
  const program = command.startsWith(claim.namespace + '/') ? command.slice(command.indexOf(': ') + 2) : command;
  return 'pod ' + claim.namespace + '/' + claim.pod + (claim.container ? ' · container ' + claim.container : '') + ' · claim ' + claim.claim + ' · ' + program;
}

function update(row, data, writable) {
  row.data = data;
  const {tenant, gpu} = data;
  const name = (tenant.state !== 'ended' ? '' : 'ended ') + (colours.isLit(data.key) ? 'lit' : '');
  if (row.line.className !== name) row.line.className = name;
  COLUMNS.forEach((column, i) => {
    const parts = row.cells[i];
    if (i === 0) {
      say(parts.text, tenant.tenant);
      const few = tenant.gpus.length > 1 && gpu ? 'GPU ' + gpu.gpu + ' · ' : '';
      const lives = tenant.processes.filter(process => process.alive).length;
      say(parts.small, few + (tenant.state === 'running' ? '' : stateOf(tenant) + ' · ') + (tenant.state !== 'ended' ? some(lives, 'process', 'processes') + ' · ' : '') + useOf(tenant));
      buttons(parts.buttons, tenant);
      if (parts.small.title !== useOf(tenant)) parts.small.title = useOf(tenant);
      if (parts.key.style.background !== colours.css(data.key)) parts.key.style.background = colours.css(data.key);
    } else if (column.limit) {
      say(parts.text, LIMITS[column.limit].shown(tenant, gpu));
      const can = writable && tenant.state !== 'ended';
      if (parts.text.disabled === can) parts.text.disabled = !can;
      parts.text.style.cursor = can ? '' : 'default';
      parts.text.style.borderBottomStyle = can ? '' : 'none';
    } else {
      const value = column.sort(data), text = column.text(data);
      say(parts.text, text);
      const kind = column.alarm && value > 0 ? 'alarm' : !column.part && !(value > 0) ? 'zero' : '';
      if (parts.cell.className !== kind) parts.cell.className = kind;
      if (parts.bar) {
        const width = Math.min(100, 100 * column.part(data)).toFixed(1) + '%';
        if (parts.bar.style.width !== width) parts.bar.style.width = width;
        const colour = colours.css(data.key);
        if (parts.bar.style.background !== colour) parts.bar.style.background = colour;
      }
    }
  });
}

function wanted(look) {
  const filter = at('filter').value.trim().toLowerCase(), ended = at('ended').checked;
  const list = [];
  for (const tenant of look.tenants) {
    if (tenant.state === 'ended' && !ended || filter && !(tenant.tenant + ' ' + useOf(tenant)).toLowerCase().includes(filter)) continue;
    const key = keyOf(tenant.uid, tenant.tenant);
    if (tenant.gpus.length === 0) list.push({tenant, gpu: null, at: 0, got: -1, key});
    tenant.gpus.forEach((gpu, i) => list.push({tenant, gpu, at: i, got: tenant.rates[i]?.gotPermille ?? -1, key}));
  }
  const column = COLUMNS[sorted.column];
  if (column) {
    const value = column.sort ?? (row => LIMITS[column.limit].value(row.tenant, row.gpu));
    const way = sorted.falling ? -1 : 1;
    list.sort((a, b) => { const x = value(a), y = value(b); return x < y ? -way : x > y ? way : 0; });
  }
  return list;
}

export function draw(look) {
  const body = document.querySelector('#tenant-table tbody'), list = wanted(look), here = new Set();
  list.forEach((data, i) => {
    const id = data.key + ' ' + data.tenant.createdNanos + ' ' + (data.gpu?.uuid ?? '');
    here.add(id);
    if (!rows.has(id)) rows.set(id, made(data.key));
    const row = rows.get(id);
    update(row, data, hasToken());
    if (body.children[i] !== row.line) body.insertBefore(row.line, body.children[i] ?? null);
  });
  for (const [id, row] of rows) if (!here.has(id)) { row.line.remove(); rows.delete(id); }
  show(at('tenant-table'), list.length > 0);
  show(at('no-tenants'), list.length === 0);
  if (list.length === 0) empty(look);
  say(at('edit-hint'), list.length === 0 ? '' : hasToken() ? 'Limits that are underlined can be changed while the job runs.' : '');
}

function empty(look) {
  const place = at('no-tenants');
  const text = at('filter').value ? 'No tenant fits the filter.' : look.tenants.length ? 'No tenant runs. Tick “ended ones too” to see those that did, or start one: '
    : 'No tenant yet. Start one in a terminal: ';
  if (place.firstChild?.textContent === text) return;
  place.replaceChildren(text);
  if (!at('filter').value) element('code', '', 'sluice run --memory 4g --compute 50% -- python train.py', place);
}
