// Whose turn it was: for each look back two minutes, the part of the time since the one before in which each tenant held the GPU.
import {clock, element, keyOf, nameOf, percent} from './text.js';
import * as colours from './colours.js';
import {Tip, follow, sharp} from './canvas.js';

const SECONDS = 120;

export class Turns {
  constructor() { this.before = new Map(); this.columns = []; }

  // boards: those of one GPU, one for each user
  add(atNanos, boards) {
    const held = new Map();
    for (const board of boards) for (const tenant of board.tenants) held.set(keyOf(board.uid, tenant.tenant), tenant.heldNanos);
    const now = atNanos / 1e9, handOvers = boards.reduce((sum, board) => sum + board.handOvers, 0);
    if (this.at !== undefined && now > this.at) {
      const parts = [];
      for (const [key, nanos] of held) {
        const part = (nanos - (this.before.get(key) ?? nanos)) / 1e9 / (now - this.at);
        if (part > 0) parts.push([key, Math.min(1, part)]);
      }
      this.columns.push({from: this.at, to: now, parts, handOvers: handOvers - this.handOvers});
    }
    while (this.columns.length && this.columns[0].to < now - SECONDS) this.columns.shift();
    this.before = held;
    this.at = now;
    this.handOvers = handOvers;
  }

  // The agent was away: what happened meanwhile is not known.
  lose() { this.at = undefined; this.before = new Map(); }
}

export class Strip {
  constructor(box, turns) {
    this.turns = turns;
    this.canvas = element('canvas', '', '', box);
    this.canvas.setAttribute('role', 'img');
    this.tip = new Tip(box);
    this.place = follow(this.canvas, () => this.draw(), () => 1 / SECONDS);
  }

  draw() {
    const {draw, wide, high} = sharp(this.canvas);
    const now = this.turns.at ?? this.turns.columns.at(-1)?.to ?? 0;
    const x = at => wide * (1 - (now - at) / SECONDS);
    for (const column of this.turns.columns) {
      const left = x(column.from), width = Math.max(1, x(column.to) - left - (x(column.to) - left > 4 ? 1 : 0));
      const order = colours.order();
      column.parts.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]));
      let y = high;
      for (const [key, part] of column.parts) {
        draw.globalAlpha = colours.dimmed(key) ? 0.22 : 1;
        draw.fillStyle = colours.canvas(key);
        draw.fillRect(left, y - part * high, width, part * high);
        y -= part * high;
      }
    }
    draw.globalAlpha = 1;
    const first = this.turns.columns[0];
    if (!first || x(first.from) > wide * 0.4) {
      draw.fillStyle = colours.value('faint');
      draw.textBaseline = 'middle';
      draw.fillText('filled while this page is open', 10, high / 2);
    }
    this.canvas.setAttribute('aria-label', 'Turns of the last two minutes; ' + (this.turns.columns.at(-1)?.parts
      .map(([key, part]) => nameOf(key) + ' ' + percent(part * 1000)).join(', ') || 'none now'));
    this.pointed(draw, x, wide, high, now);
  }

  pointed(draw, x, wide, high, now) {
    const place = this.place();
    const moment = now - (1 - (place ?? 0)) * SECONDS;
    const column = place === null ? null : this.turns.columns.find(other => other.from <= moment && moment <= other.to) ?? (place >= 1 ? this.turns.columns.at(-1) : null);
    if (!column) { this.tip.hide(); return; }
    draw.fillStyle = colours.value('ink');
    draw.fillRect(Math.round(x(column.to)) - 1, 0, 1, high);
    const rows = [...column.parts].sort((a, b) => b[1] - a[1]).map(([key, part]) => [key, nameOf(key), percent(part * 1000)]);
    this.tip.show(place * wide, clock(column.to * 1000) + ' · ' + column.handOvers + (column.handOvers === 1 ? ' hand-over' : ' hand-overs'), rows);
  }
}
