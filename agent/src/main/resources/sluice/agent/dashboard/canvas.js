// A canvas that is as sharp as the screen, and a box with values beside the pointer.
import {element} from './text.js';
import {css} from './colours.js';

export function sharp(canvas) {
  const ratio = Math.min(3, devicePixelRatio || 1);
  const wide = canvas.clientWidth, high = canvas.clientHeight;
  if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
    canvas.width = Math.round(wide * ratio);
    canvas.height = Math.round(high * ratio);
  }
  const draw = canvas.getContext('2d');
  draw.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw.clearRect(0, 0, wide, high);
  draw.font = '11.5px system-ui, sans-serif';
  return {draw, wide, high};
}

// Calls back with the place of the pointer, or of the keys, as a part of the width; with null when it has left.
export function follow(canvas, moved, step) {
  let place = null;
  const go = to => { place = to; moved(place); };
  const pointer = event => go((event.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth);
  canvas.tabIndex = 0;
  canvas.addEventListener('pointermove', pointer);
  canvas.addEventListener('pointerdown', pointer);
  canvas.addEventListener('pointerleave', () => go(null));
  canvas.addEventListener('blur', () => go(null));
  canvas.addEventListener('keydown', event => {
    const by = {ArrowLeft: -step(), ArrowRight: step(), Home: -1, End: 1}[event.key];
    if (event.key === 'Escape') go(null);
    if (by === undefined) return;
    event.preventDefault();
    go(Math.max(0, Math.min(1, (place ?? 1) + by)));
  });
  return () => place;
}

const MOST = 9;

export class Tip {
  constructor(box) {
    this.box = box;
    this.tip = element('div', 'tip', '', box);
  }

  hide() { this.tip.style.visibility = 'hidden'; }

  // rows: [key, name, value], the largest first
  show(x, title, rows) {
    this.tip.replaceChildren();
    element('b', '', title, this.tip);
    for (const [key, name, text] of rows.slice(0, MOST)) {
      const line = element('div', '', '', this.tip);
      element('span', 'key', '', line).style.background = css(key);
      element('span', '', name, line);
      element('span', '', text, line);
    }
    if (rows.length > MOST) element('div', '', (rows.length - MOST) + ' more', this.tip);
    const wide = this.tip.offsetWidth, room = this.box.clientWidth;
    const left = x + 14 + wide > room ? x - wide - 14 : x + 14;
    this.tip.style.left = Math.max(0, Math.min(room - wide, left)) + 'px';
    this.tip.style.top = '6px';
    this.tip.style.visibility = 'visible';
  }
}
