'use strict';
// Draws the timeline, shows values under the pointer, sorts tables. Texts from the trace only ever become text.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  const time = nanos => {
    if (nanos >= 100e9) {
      const seconds = Math.round(nanos / 1e9);
      return Math.floor(seconds / 60) + ' min ' + String(seconds % 60).padStart(2, '0') + ' s';
    }
    let unit = 0;
    while (unit < 3 && nanos >= 999.5) { nanos /= 1000; unit++; }
    return (unit === 0 ? Math.round(nanos) : nanos < 9.995 ? nanos.toFixed(2) : nanos < 99.95 ? nanos.toFixed(1) : nanos.toFixed(0)) + ' ' + ['ns', 'µs', 'ms', 's'][unit];
  };
  const size = bytes => {
    let unit = 0;
    while (bytes >= 1024 && unit < 6) { bytes /= 1024; unit++; }
    return unit === 0 ? bytes + ' B' : bytes.toFixed(1) + ' ' + 'KMGTPE'[unit - 1] + 'iB';
  };
  const percent = part => (100 * part).toFixed(part > 0 && part < 0.1 ? 1 : 0) + ' %';
  const element = (kind, text, parent, name) => {
    const made = document.createElement(kind);
    if (text) made.textContent = text;
    if (name) made.className = name;
    if (parent) parent.append(made);
    return made;
  };
  const place = (tip, box, x, y) => {
    const wide = tip.offsetWidth;
    tip.style.left = Math.max(4, Math.min(x + 14, box.clientWidth - wide - 4)) + 'px';
    tip.style.top = Math.max(4, y + 16 + tip.offsetHeight > box.clientHeight ? y - tip.offsetHeight - 10 : y + 16) + 'px';
    tip.style.visibility = 'visible';
  };

  // Bins come as one letter each, 0 to 63; sums from the left make the mean of any span one subtraction.
  const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_';
  const level = {};
  [...LETTERS].forEach((letter, i) => { level[letter] = i / 63; });
  const series = text => {
    const sums = new Float64Array(text.length + 1);
    for (let i = 0; i < text.length; i++) sums[i + 1] = sums[i] + level[text[i]];
    const upTo = at => {
      const bin = Math.min(text.length - 1, Math.max(0, Math.floor(at)));
      return sums[bin] + (sums[bin + 1] - sums[bin]) * Math.min(1, Math.max(0, at - bin));
    };
    return (from, to) => {
      const a = from / data.nanos * text.length, b = to / data.nanos * text.length;
      if (b - a < 1) return level[text[Math.min(text.length - 1, Math.max(0, Math.floor((a + b) / 2)))]];
      return (upTo(b) - upTo(a)) / (b - a);
    };
  };

  const box = document.getElementById('timeline');
  if (box && data.nanos > 0) timeline(box);

  function timeline(box) {
    const tracks = [];
    for (const gpu of data.gpus) {
      const layers = gpu.layers.map(layer => ({...layer, mean: series(layer.bins)}));
      if (layers.length) tracks.push({kind: 'stack', label: gpu.label, height: 76, layers, gaps: gpu.gaps});
      if (gpu.turn) tracks.push({kind: 'stack', label: 'turn held', height: 12, thin: true, layers: [{word: 'held', text: 'turn held', mean: series(gpu.turn)}]});
    }
    for (const thread of data.threads) {
      tracks.push({kind: 'stack', label: thread.label, height: 32, layers: thread.layers.map(layer => ({...layer, mean: series(layer.bins)}))});
      tracks.push({kind: 'spans', label: '', height: 28, rows: 2, spans: thread.spans});
      if (thread.ranges.length) {
        const rows = Math.min(4, 1 + Math.max(...thread.ranges.map(range => range[4])));
        tracks.push({kind: 'spans', label: 'ranges', height: 16 * rows, rows, spans: thread.ranges, range: true});
      }
    }
    const canvas = box.querySelector('canvas'), context = canvas.getContext('2d');
    const tip = box.querySelector('.tip'), shown = box.querySelector('.bar span');
    let from = 0, to = data.nanos, gutter = 0, width = 0, drag = null;
    const narrow = () => box.clientWidth < 560;
    const x = nanos => gutter + (nanos - from) / (to - from) * (width - gutter);
    const moment = px => from + (px - gutter) / (width - gutter) * (to - from);

    function layout() {
      let y = 30;
      for (const track of tracks) {
        if (narrow() && track.label) y += track.thin ? 14 : 18;
        track.y = y;
        y += track.height + (track.kind === 'stack' && !track.thin ? 6 : 12);
      }
      return y;
    }

    function draw() {
      const ratio = window.devicePixelRatio || 1, height = layout();
      width = box.clientWidth;
      gutter = narrow() ? 0 : 116;
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      canvas.style.height = height + 'px';
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      context.font = '12px ' + getComputedStyle(document.body).fontFamily;
      axis(height);
      for (const track of tracks) {
        if (track.label) {
          context.fillStyle = colour('soft');
          context.textBaseline = 'middle';
          if (narrow()) context.fillText(track.label, 8, track.y - (track.thin ? 7 : 9));
          else context.fillText(fit(track.label, gutter - 22), 12, track.y + Math.min(track.height / 2, 18));
        }
        if (track.kind === 'stack') stack(track); else spans(track);
      }
      if (drag && drag.select && Math.abs(drag.at - drag.start) > 3) {
        context.fillStyle = colour('accent');
        context.globalAlpha = 0.16;
        context.fillRect(Math.min(drag.at, drag.start), 30, Math.abs(drag.at - drag.start), height);
        context.globalAlpha = 1;
      }
      shown.textContent = from === 0 && to === data.nanos ? 'all ' + time(data.nanos) : time(from) + ' to ' + time(to) + ' (' + time(to - from) + ')';
    }

    function fit(text, room) {
      if (context.measureText(text).width <= room) return text;
      let end = text.length;
      while (end > 1 && context.measureText(text.slice(0, end) + '…').width > room) end--;
      return text.slice(0, end) + '…';
    }

    function axis(height) {
      const steps = Math.max(2, Math.floor((width - gutter) / 110));
      const rough = (to - from) / steps, power = 10 ** Math.floor(Math.log10(rough));
      const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough);
      const biggest = to, unit = biggest >= 1e9 ? 3 : biggest >= 1e6 ? 2 : biggest >= 1e3 ? 1 : 0;
      const digits = Math.max(0, -Math.floor(Math.log10(step / 1000 ** unit) + 1e-9));
      context.textBaseline = 'middle';
      for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
        const px = x(at), text = (at / 1000 ** unit).toFixed(digits) + ' ' + ['ns', 'µs', 'ms', 's'][unit];
        context.fillStyle = colour('line');
        context.fillRect(px, 26, 1, height);
        context.fillStyle = colour('faint');
        const half = context.measureText(text).width / 2;
        context.fillText(text, Math.min(Math.max(px - half, gutter + 2), width - 2 * half - 4), 14);
      }
    }

    function stack(track) {
      context.fillStyle = colour('wash');
      context.fillRect(gutter, track.y, width - gutter, track.height);
      const wide = 2, columns = Math.ceil((width - gutter) / wide), base = new Float64Array(columns);
      for (const layer of track.layers) {
        context.fillStyle = colour(layer.word);
        for (let i = 0; i < columns; i++) {
          const part = layer.mean(moment(gutter + wide * i), moment(gutter + wide * (i + 1)));
          if (part <= 0) continue;
          const tall = Math.max(0, Math.min(part, 1 - base[i])) * track.height;
          context.fillRect(gutter + wide * i, track.y + track.height * (1 - base[i]) - tall, wide, tall);
          base[i] += part;
        }
      }
    }

    function spans(track) {
      const tall = track.height / track.rows;
      for (const span of track.spans) {
        const left = Math.max(gutter, x(span[0])), right = Math.min(width, x(span[0] + span[1]));
        if (right <= gutter || left >= width || span[4] >= track.rows) continue;
        context.fillStyle = colour(track.range ? 'range' : data.kinds[span[3]]);
        const y = track.y + span[4] * tall, wide = Math.max(1, right - left);
        context.globalAlpha = track.range ? 0.45 + 0.35 / (1 + span[4]) : 1;
        context.fillRect(left, y, wide > 3 ? wide - 0.5 : wide, tall - 1);
        context.globalAlpha = 1;
        if (wide > 34) {
          context.fillStyle = '#ffffff';
          context.font = '11px ' + getComputedStyle(document.body).fontFamily;
          context.fillText(fit(data.names[span[2]], wide - 8), left + 4, y + tall / 2);
        }
      }
    }

    function show(px, py) {
      const track = tracks.find(track => py >= track.y - 3 && py <= track.y + track.height + 3);
      if (!track || px < gutter) { tip.style.visibility = 'hidden'; return; }
      const at = moment(px), before = moment(px - 1.5), after = moment(px + 1.5);
      tip.textContent = '';
      if (track.kind === 'spans') {
        const row = Math.floor((py - track.y) / (track.height / track.rows));
        const span = track.spans.filter(span => span[4] === row && span[0] <= after && span[0] + span[1] >= before).sort((a, b) => b[1] - a[1])[0];
        if (!span) { tip.style.visibility = 'hidden'; return; }
        element('b', data.names[span[2]], tip);
        element('div', time(span[1]) + ', from ' + time(span[0]), tip);
      } else {
        element('b', track.label + ' at ' + time(at), tip);
        let none = true;
        for (const layer of track.layers) {
          const part = layer.mean(before, after);
          if (part < 0.004) continue;
          none = false;
          const line = element('div', '', tip);
          const key = element('i', '', line, 'key');
          key.style.background = 'var(--' + layer.word + ')';
          line.append(layer.text + ' ' + percent(part));
        }
        if (none) element('div', 'nothing', tip);
        const gap = (track.gaps || []).find(gap => gap[0] <= at && gap[0] + gap[1] >= at);
        if (gap) element('div', 'in a gap of ' + time(gap[1]) + ': ' + gap[2], tip);
      }
      place(tip, box, px, py + canvas.offsetTop);
    }

    function look(a, b) {
      const least = Math.min(data.nanos, 1000);
      let span = Math.max(least, Math.min(data.nanos, b - a));
      from = Math.max(0, Math.min(data.nanos - span, a));
      to = from + span;
      if (span >= data.nanos * 0.999) { from = 0; to = data.nanos; }
      tip.style.visibility = 'hidden';
      requestAnimationFrame(draw);
    }
    const zoom = (factor, at) => look(at - (at - from) * factor, at + (to - at) * factor);
    const middle = () => (from + to) / 2;
    const actions = {
      in: () => zoom(0.5, middle()), out: () => zoom(2, middle()), all: () => look(0, data.nanos),
      left: () => look(from - (to - from) / 3, to - (to - from) / 3), right: () => look(from + (to - from) / 3, to + (to - from) / 3),
    };
    box.querySelectorAll('button').forEach(button => button.addEventListener('click', actions[button.dataset.do]));
    canvas.addEventListener('keydown', event => {
      const action = {'+': 'in', '=': 'in', '-': 'out', '0': 'all', ArrowLeft: 'left', ArrowRight: 'right'}[event.key];
      if (action && !event.ctrlKey && !event.metaKey) { actions[action](); event.preventDefault(); }
    });
    canvas.addEventListener('wheel', event => {
      const at = moment(event.offsetX);
      if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY / 200), at);
      else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        const move = (event.deltaX || event.deltaY) / width * (to - from);
        look(from + move, to + move);
      } else return;
      event.preventDefault();
    }, {passive: false});
    canvas.addEventListener('dblclick', actions.all);

    const fingers = new Map();
    canvas.addEventListener('pointerdown', event => {
      fingers.set(event.pointerId, event.offsetX);
      canvas.setPointerCapture(event.pointerId);
      drag = {start: event.offsetX, at: event.offsetX, from, to, select: event.pointerType !== 'touch'};
      if (fingers.size === 2) drag.pinch = [...fingers.values()];
    });
    canvas.addEventListener('pointermove', event => {
      if (!drag) { show(event.offsetX, event.offsetY); return; }
      fingers.set(event.pointerId, event.offsetX);
      drag.at = event.offsetX;
      const perPixel = (drag.to - drag.from) / (width - gutter);
      if (drag.pinch && fingers.size === 2) {
        const [a, b] = drag.pinch, [c, d] = [...fingers.values()];
        const wide = (drag.to - drag.from) * Math.max(8, Math.abs(b - a)) / Math.max(8, Math.abs(d - c));
        const at = drag.from + ((a + b) / 2 - gutter) * perPixel, part = ((c + d) / 2 - gutter) / (width - gutter);
        look(at - wide * part, at + wide * (1 - part));
      } else if (drag.select) requestAnimationFrame(draw);
      else look(drag.from - (drag.at - drag.start) * perPixel, drag.to - (drag.at - drag.start) * perPixel);
    });
    const up = event => {
      fingers.delete(event.pointerId);
      const done = drag;
      drag = null;
      if (!done || event.type === 'pointercancel') return;
      if (done.select && Math.abs(done.at - done.start) > 6) look(moment(Math.min(done.at, done.start)), moment(Math.max(done.at, done.start)));
      else { draw(); show(event.offsetX, event.offsetY); }
    };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    canvas.addEventListener('pointerleave', () => { if (!drag) tip.style.visibility = 'hidden'; });
    document.querySelectorAll('[data-look]').forEach(link => link.addEventListener('click', event => {
      const [begin, nanos] = link.dataset.look.split(' ').map(Number);
      look(begin - nanos * 1.5 - 1000, begin + nanos * 2.5 + 1000);
      box.scrollIntoView({block: 'nearest', behavior: 'smooth'});
      event.preventDefault();
    }));
    new ResizeObserver(draw).observe(box);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
    draw();
  }

  document.querySelectorAll('.plot[data-series]').forEach(plot => {
    const lines = data.charts[plot.dataset.series];
    const tip = element('div', '', plot, 'tip'), cross = element('div', '', plot, 'cross');
    plot.addEventListener('pointermove', event => {
      const bounds = plot.getBoundingClientRect(), px = event.clientX - bounds.left;
      const bins = lines[0].values.length, bin = Math.max(0, Math.min(bins - 1, Math.floor(px / bounds.width * bins)));
      tip.textContent = '';
      element('b', 'at ' + time((bin + 0.5) / bins * data.nanos), tip);
      for (const line of lines) {
        const value = line.values[bin];
        element('div', line.text + ' ' + (value < 0 ? 'not known' : line.unit === 'bytes' ? size(value) : percent(value / 1000)), tip);
      }
      cross.style.left = px + 'px';
      cross.style.visibility = 'visible';
      place(tip, plot, px, event.clientY - bounds.top);
    });
    plot.addEventListener('pointerleave', () => { tip.style.visibility = cross.style.visibility = 'hidden'; });
  });

  document.querySelectorAll('table').forEach(table => {
    const body = table.tBodies[0];
    table.querySelectorAll('th button').forEach(button => button.addEventListener('click', () => {
      const header = button.parentElement, column = header.cellIndex;
      const up = header.getAttribute('aria-sort') === 'descending';
      const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const rows = [...body.rows].sort((a, b) => {
        const p = key(a), q = key(b), order = isNaN(p) || isNaN(q) ? p.localeCompare(q) : p - q;
        return up ? order : -order;
      });
      table.querySelectorAll('th').forEach(other => other.removeAttribute('aria-sort'));
      header.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const limit = Number(table.dataset.rows || rows.length);
      rows.forEach((row, i) => { row.className = i >= limit ? 'more' : ''; body.append(row); });
    }));
    const more = table.parentElement.parentElement.querySelector('button.show');
    if (more) more.addEventListener('click', () => { table.classList.add('all'); more.remove(); });
  });
})();
