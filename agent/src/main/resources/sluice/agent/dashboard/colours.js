// Which tenant has which colour. There are ten; a tenant keeps its own while the page is open, and the largest of those without
// one gets what is free. All others share a grey.
import {nameOf} from './text.js';

const SLOTS = 10;
const slots = new Array(SLOTS).fill(null);
let computed = null;
let lit = null;
const listeners = [];

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { computed = null; listeners.forEach(told => told()); });

export const value = name => {
  computed ??= {};
  return computed[name] ??= getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
};

export function assign(sizes, known) {
  for (let i = 0; i < SLOTS; i++) if (slots[i] !== null && !known(slots[i])) slots[i] = null;
  const without = [...sizes.keys()].filter(key => !slots.includes(key));
  if (without.length === 0 || !slots.includes(null)) return;
  const chosen = without.sort((a, b) => sizes.get(b) - sizes.get(a) || (a < b ? -1 : 1)).slice(0, slots.filter(slot => slot === null).length);
  chosen.sort((a, b) => a < b ? -1 : 1).forEach(key => { slots[slots.indexOf(null)] = key; });
}

export const has = key => slots.includes(key);
export const variable = key => key === 'outside' ? 'outside' : slots.includes(key) ? 't' + slots.indexOf(key) : 'others';
export const css = key => 'var(--' + variable(key) + ')';
export const canvas = key => value(variable(key));
export const order = () => slots.filter(key => key !== null);

// The tenant that is looked at: the others step back.
export const light = key => { if (lit !== key) { lit = key; listeners.forEach(told => told()); } };
export const isLit = key => lit === key;
export const dimmed = key => lit !== null && lit !== key;
export const litName = () => lit === null ? '' : nameOf(lit);
export const litKey = () => lit;
export const whenChanged = told => listeners.push(told);
