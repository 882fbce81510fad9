// One card for each GPU: who holds it, whose memory it has, who got its time, and the turns of the last minutes.
import {at, element, keyOf, nameOf, percent, say, show, size} from './text.js';
import * as colours from './colours.js';
import {Strip, Turns} from './turns.js';

const cards = new Map();

function meter(parent, label) {
  const row = element('div', 'meter', '', parent);
  element('span', '', label, row);
  const stack = element('div', 'stack', '', row);
  stack.setAttribute('role', 'img');
  return {row, stack, text: element('span', '', '', row)};
}

function holder(parent) {
  const box = element('span', 'holder', '', parent);
  return {box, key: element('span', 'key', '', box), text: element('span', '', '', box)};
}

function card(uuid) {
  const box = element('article', 'gpu', '', at('gpus'));
  box.dataset.uuid = uuid;
  const head = element('div', 'head', '', box);
  const made = {box, title: element('h2', '', '', head), holder: holder(head), figures: element('span', 'figures', '', head),
    health: element('p', 'bad', '', box), memory: meter(box, 'Memory'), time: meter(box, 'GPU time'), turns: new Turns()};
  made.turnsRow = element('div', 'meter', '', box);
  element('span', '', 'Turns', made.turnsRow);
  made.strip = new Strip(element('div', 'strip', '', made.turnsRow), made.turns);
  made.turnsText = element('span', '', '', made.turnsRow);
  return made;
}

// parts: [key, value], of a whole
function fill(stack, parts, whole, text) {
  while (stack.children.length > parts.length) stack.lastChild.remove();
  while (stack.children.length < parts.length) {
    const piece = element('i', '', '', stack);
    piece.addEventListener('pointerenter', () => colours.light(piece.dataset.key));
    piece.addEventListener('pointerleave', () => colours.light(null));
  }
  parts.forEach(([key, value], i) => {
    const piece = stack.children[i], width = (100 * value / Math.max(1, whole)).toFixed(2) + '%';
    if (piece.style.width !== width) piece.style.width = width;
    const colour = colours.css(key), faint = colours.dimmed(key) ? '0.22' : '';
    if (piece.style.background !== colour) piece.style.background = colour;
    if (piece.style.opacity !== faint) piece.style.opacity = faint;
    const title = (key === 'outside' ? 'not by tenants' : nameOf(key)) + ' ' + text(value);
    if (piece.title !== title) { piece.title = title; piece.dataset.key = key; }
  });
  stack.setAttribute('aria-label', parts.slice(0, 10).map(([key, value]) => (key === 'outside' ? 'not by tenants' : nameOf(key)) + ' ' + text(value)).join(', ') || 'nothing');
}

// Whether tenants use the GPU, and nobody measures the time of any of them.
function isUnmeasured(look, uuid) {
  const got = look.tenants.filter(tenant => tenant.state !== 'ended').flatMap(tenant =>
    tenant.gpus.flatMap((gpu, i) => gpu.uuid === uuid ? [tenant.rates[i]?.gotPermille ?? -1] : []));
  return got.length > 0 && got.every(permille => permille < 0);
}

function parts(look, uuid, field) {
  const found = [];
  for (const tenant of look.tenants) {
    if (tenant.state === 'ended') continue;
    tenant.gpus.forEach((gpu, i) => {
      const value = gpu.uuid !== uuid ? 0 : field === 'memory' ? gpu.usedBytes : Math.max(0, tenant.rates[i]?.gotPermille ?? 0);
      if (value > 0) found.push([keyOf(tenant.uid, tenant.tenant), value]);
    });
  }
  const order = colours.order(), place = key => order.includes(key) ? order.indexOf(key) : order.length;
  return found.sort((a, b) => place(a[0]) - place(b[0]) || b[1] - a[1]);
}

function update(card, gpu, look) {
  say(card.title, 'GPU ' + gpu.gpu + (gpu.name ? ' · ' + gpu.name : ''));
  card.box.title = gpu.uuid;
  const boards = look.boards.filter(board => board.uuid === gpu.uuid);
  const holders = boards.filter(board => board.holder).map(board => keyOf(board.uid, board.holder));
  const waiting = boards.reduce((sum, board) => sum + board.tenants.filter(tenant => tenant.waitingNanos > 0).length, 0);
  const memory = parts(look, gpu.uuid, 'memory'), time = parts(look, gpu.uuid, 'time');
  say(card.holder.text, holders.length ? holders.map(nameOf).join(', ') + (holders.length > 1 ? ' hold it' : ' holds it') + (waiting ? ', ' + waiting + (waiting === 1 ? ' waits' : ' wait') : '')
    : time.length === 1 ? nameOf(time[0][0]) + ' works' : time.length ? time.length + ' tenants work' : memory.length ? 'idle' : 'free');
  card.holder.box.classList.toggle('held', holders.length > 0);
  if (holders.length) card.holder.key.style.background = colours.css(holders[0]);
  const figures = [];
  if (gpu.utilizationPercent >= 0) figures.push('busy ' + gpu.utilizationPercent + ' %');
  if (gpu.temperatureCelsius > 0) figures.push(gpu.temperatureCelsius + ' °C');
  say(card.figures, figures.join(' · '));
  say(card.health, gpu.health.join('; '));
  show(card.health, gpu.health.length > 0);
  const outside = gpu.usedBytes - gpu.tenantsBytes;
  if (outside > 0) memory.push(['outside', outside]);
  const used = Math.max(gpu.usedBytes, gpu.tenantsBytes);
  fill(card.memory.stack, memory, gpu.totalBytes, size);
  say(card.memory.text, size(used) + ' of ' + size(gpu.totalBytes));
  const got = time.reduce((sum, part) => sum + part[1], 0);
  fill(card.time.stack, time, Math.max(1000, got), percent);
  say(card.time.text, isUnmeasured(look, gpu.uuid) ? 'not measured' : percent(got) + ' by tenants');
  show(card.turnsRow, boards.length > 0);
  if (boards.length) {
    say(card.turnsText, Math.round(boards.reduce((sum, board) => sum + board.handOversPerSecond, 0)) + ' hand-overs/s');
    card.strip.draw();
  }
}

export function see(look) {
  const here = new Set(look.gpus.map(gpu => gpu.uuid));
  for (const [uuid, gone] of cards) if (!here.has(uuid)) { gone.box.remove(); cards.delete(uuid); }
  for (const gpu of look.gpus) {
    if (!cards.has(gpu.uuid)) cards.set(gpu.uuid, card(gpu.uuid));
    cards.get(gpu.uuid).turns.add(look.atNanos, look.boards.filter(board => board.uuid === gpu.uuid));
  }
}

export function draw(look) {
  look.gpus.forEach(gpu => update(cards.get(gpu.uuid), gpu, look));
  show(at('no-gpus'), look.gpus.length === 0);
}

export const lose = () => cards.forEach(card => card.turns.lose());
