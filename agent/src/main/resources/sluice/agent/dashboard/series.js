// What was: one column for each step of the span, by GPU and tenant. A column of the time before the page was opened comes from
// the agent's history; the others are means of the looks that fell into them.
import {keyOf} from './text.js';

const COLUMNS = 300;

export class Series {
  constructor() {
    this.span = 600;
    this.clear();
  }

  clear() {
    this.step = this.span / COLUMNS;
    this.gpus = new Map();
    this.now = 0;
    this.apart = 1;
  }

  reset(span) {
    const {now, apart} = this;
    this.span = span;
    this.clear();
    this.now = now;
    this.apart = apart;
  }

  // The second from which the agent is asked.
  from(now) { return Math.floor(now / this.step) * this.step - this.span; }

  load(history) {
    for (const series of history.series) {
      const key = series.tenant === '' ? 'gpu' : keyOf(series.uid, series.tenant);
      for (const [second, used, , got] of series.points) {
        const cells = this.column(series.uuid, Math.floor(second / this.step));
        cells.set(key, {used, got: Math.max(0, got), looks: 1});
      }
    }
  }

  column(uuid, at) {
    let gpu = this.gpus.get(uuid);
    if (!gpu) this.gpus.set(uuid, gpu = new Map());
    let cells = gpu.get(at);
    if (!cells) gpu.set(at, cells = new Map());
    return cells;
  }

  add(look) {
    const second = look.atNanos / 1e9;
    if (this.now) this.apart = 0.7 * this.apart + 0.3 * Math.min(60, Math.max(0.1, second - this.now));
    this.now = second;
    const at = Math.floor(second / this.step);
    for (const gpu of look.gpus) this.mean(this.column(gpu.uuid, at), 'gpu', gpu.usedBytes, 0);
    for (const tenant of look.tenants) {
      if (tenant.state === 'ended') continue;
      const key = keyOf(tenant.uid, tenant.tenant);
      tenant.gpus.forEach((gpu, i) => this.mean(this.column(gpu.uuid, at), key, gpu.usedBytes, Math.max(0, tenant.rates[i]?.gotPermille ?? 0)));
    }
    const oldest = at - COLUMNS - 1;
    for (const gpu of this.gpus.values()) for (const column of gpu.keys()) if (column < oldest) gpu.delete(column);
  }

  mean(cells, key, used, got) {
    const cell = cells.get(key);
    if (!cell) { cells.set(key, {used, got, looks: 1}); return; }
    cell.looks++;
    cell.used += (used - cell.used) / cell.looks;
    cell.got += (got - cell.got) / cell.looks;
  }

  // Columns from old to new, null where nothing is known. A look may be longer ago than one step.
  columns(uuid) {
    const gpu = this.gpus.get(uuid) ?? new Map();
    const last = Math.floor(this.now / this.step);
    const patience = Math.max(2, Math.ceil(2.5 * Math.max(this.apart, this.step >= 10 ? 10 : 0) / this.step));
    const columns = [];
    let before = null, missed = 0;
    for (let at = last - COLUMNS; at <= last; at++) {
      const cells = gpu.get(at);
      if (cells) { before = cells; missed = 0; columns.push(cells); continue; }
      missed++;
      columns.push(missed <= patience ? before : null);
    }
    return columns;
  }

  tenants() {
    const keys = new Set();
    for (const gpu of this.gpus.values()) for (const cells of gpu.values()) for (const key of cells.keys()) keys.add(key);
    keys.delete('gpu');
    return keys;
  }

  millis(index) { return (Math.floor(this.now / this.step) - COLUMNS + index) * this.step * 1000; }
}
