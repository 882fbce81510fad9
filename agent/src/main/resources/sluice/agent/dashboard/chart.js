// Areas on top of each other, over time: the coloured tenants, then all others as one.
import {clock, element, nameOf} from './text.js';
import * as colours from './colours.js';
import {Tip, follow, sharp} from './canvas.js';

const LEFT = 58, BOTTOM = 22, TOP = 8;
const TICKS = {600: 120, 3600: 600, 21600: 3600};

export class Chart {
  // field: 'used' or 'got'; text: how a value is written; ceiling: the most that the axis shows
  constructor(box, series, {field, text, floor, ceiling, label, empty}) {
    Object.assign(this, {series, field, text, floor, ceiling, label, empty});
    this.canvas = element('canvas', '', '', box);
    this.canvas.setAttribute('role', 'img');
    this.tip = new Tip(box);
    this.place = follow(this.canvas, () => this.draw(), () => 1 / 100);
    this.uuid = null;
  }

  draw() {
    const {draw, wide, high} = sharp(this.canvas);
    if (wide === 0) return;
    const columns = this.uuid === null ? [] : this.series.columns(this.uuid);
    const layers = this.layers(columns);
    const most = layers.top.reduce((a, b) => Math.max(a, b), 0);
    const scale = this.scale(most);
    const x = i => LEFT + (wide - LEFT - 1) * i / (columns.length - 1);
    const y = value => high - BOTTOM - (high - BOTTOM - TOP) * value / scale.top;
    this.rules(draw, scale, y, wide);
    this.times(draw, columns.length, x, high);
    for (const layer of layers.all) this.area(draw, layer, x, y);
    if (!(most > 0)) {
      draw.fillStyle = colours.value('faint');
      draw.textAlign = 'center';
      draw.fillText(this.empty, LEFT + (wide - LEFT) / 2, (high - BOTTOM) / 2);
    }
    this.canvas.setAttribute('aria-label', this.label + '; now ' + this.text(layers.top.at(-1) ?? 0) + ' in all');
    this.pointed(draw, columns, x, wide, high);
  }

  layers(columns) {
    const keys = colours.order();
    const lit = colours.litKey();
    if (lit !== null && !keys.includes(lit)) keys.push(lit);
    const all = keys.map(key => ({key, low: [], high: [], seen: false}));
    all.push({key: 'others', low: [], high: [], seen: false});
    const top = [];
    columns.forEach((cells, i) => {
      let sum = 0, rest = 0;
      if (cells) for (const [key, cell] of cells) if (key !== 'gpu') rest += cell[this.field];
      for (const layer of all) {
        const value = layer.key === 'others' ? Math.max(0, rest) : cells?.get(layer.key)?.[this.field] ?? 0;
        rest -= value;
        layer.low[i] = cells ? sum : null;
        layer.high[i] = sum += value;
        layer.seen ||= value > 0;
      }
      top[i] = sum;
    });
    return {all: all.filter(layer => layer.seen), top};
  }

  area(draw, layer, x, y) {
    draw.globalAlpha = colours.dimmed(layer.key) ? 0.22 : 0.92;
    draw.fillStyle = colours.canvas(layer.key);
    let from = 0;
    while (from < layer.low.length) {
      while (from < layer.low.length && layer.low[from] === null) from++;
      let to = from;
      while (to < layer.low.length && layer.low[to] !== null) to++;
      if (to > from) {
        draw.beginPath();
        draw.moveTo(x(from), y(layer.low[from]));
        for (let i = from; i < to; i++) draw.lineTo(x(i), y(layer.high[i]));
        for (let i = to - 1; i >= from; i--) draw.lineTo(x(i), y(layer.low[i]));
        draw.fill();
      }
      from = to + 1;
    }
    draw.globalAlpha = 1;
  }

  scale(most) {
    if (this.field === 'got') return {top: Math.max(1000, most), each: 250};
    const want = Math.max(this.floor, most * 1.08);
    const power = 2 ** Math.floor(Math.log2(want / 4));
    const each = power * Math.ceil(want / 4 / power);
    const ceiling = this.ceiling();
    const top = ceiling > 0 && each * 4 > ceiling ? ceiling : each * 4;
    return {top, each: top / 4};
  }

  rules(draw, scale, y, wide) {
    draw.textAlign = 'right';
    draw.textBaseline = 'middle';
    for (let value = 0; value <= scale.top * 1.001; value += scale.each) {
      draw.fillStyle = colours.value('line');
      draw.fillRect(LEFT, Math.round(y(value)), wide - LEFT, 1);
      draw.fillStyle = colours.value('faint');
      draw.fillText(value === 0 ? '0' : this.text(value), LEFT - 7, y(value));
    }
  }

  times(draw, length, x, high) {
    const tick = TICKS[this.series.span] * 1000;
    const first = this.series.millis(0), last = this.series.millis(length - 1);
    if (!this.series.now) return;
    draw.fillStyle = colours.value('faint');
    draw.textAlign = 'center';
    draw.textBaseline = 'alphabetic';
    for (let at = Math.ceil(first / tick) * tick; at <= last; at += tick) {
      const place = x((at - first) / (last - first) * (length - 1));
      if (place > LEFT + 16 && place < x(length - 1) - 18) draw.fillText(clock(at, false), place, high - 6);
    }
  }

  pointed(draw, columns, x, wide, high) {
    const place = this.place();
    if (place === null || columns.length === 0) { this.tip.hide(); return; }
    const index = Math.max(0, Math.min(columns.length - 1, Math.round((place * wide - LEFT) / (wide - LEFT) * (columns.length - 1))));
    draw.fillStyle = colours.value('soft');
    draw.fillRect(Math.round(x(index)), TOP, 1, high - BOTTOM - TOP);
    const rows = [];
    for (const [key, cell] of columns[index] ?? []) if (key !== 'gpu' && cell[this.field] > 0) rows.push([key, cell[this.field]]);
    rows.sort((a, b) => b[1] - a[1]);
    const sum = rows.reduce((all, row) => all + row[1], 0);
    this.tip.show(x(index), clock(this.series.millis(index)) + (columns[index] ? ' · ' + this.text(sum) : ' · not known'),
      rows.map(([key, value]) => [key, nameOf(key), this.text(value)]));
  }
}
