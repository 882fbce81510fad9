// The limits that can be changed, from the agent's table: how each is shown, how it is written for the agent, and what puts it back.
import {percent, size} from './text.js';
import {answer} from './agent.js';

const NONE = 'none';
const plainSize = bytes => {
  for (const [unit, power] of [['g', 2 ** 30], ['m', 2 ** 20], ['k', 1024]]) if (bytes >= power && Number.isInteger(bytes / power * 2)) return bytes / power + unit;
  return bytes + 'b';
};

// How values of a kind are shown, and how they are written.
const KINDS = {
  size: {shown: bytes => bytes ? size(bytes) : NONE, text: bytes => bytes ? plainSize(bytes) : NONE},
  bytes: {shown: bytes => bytes ? size(bytes) : NONE, text: bytes => bytes ? plainSize(bytes) : NONE},
  part: {shown: permille => permille ? percent(permille) : NONE, text: permille => permille ? permille / 10 + '%' : NONE},
  number: {text: number => number ? String(number) : NONE},
  word: {text: String},
  switch: {text: String},
  time: {text: micros => micros ? micros + 'us' : NONE},
  wait: {text: millis => millis ? 'wait:' + millis + 'ms' : 'fail'},
};

// One value for all GPUs, or one for each.
const forGpus = (values, plain) => values.every(value => value === values[0]) ? plain(values[0]) : values.map((value, gpu) => gpu + '=' + plain(value)).join(',');

function limit(facts) {
  const kind = KINDS[facts.kind], path = facts.field.split('.');
  const read = tenant => facts.kind === 'number' && facts.ofTurns && !tenant.compute.turns ? 0 : path.reduce((place, key) => place[key], tenant);
  const raw = (tenant, gpu) => facts.byGpu ? read(tenant)[gpu?.gpu ?? 0] ?? 0 : read(tenant);
  return {
    ...facts,
    value: (tenant, gpu) => facts.kind === 'word' ? -facts.choices.indexOf(raw(tenant)) : raw(tenant, gpu),
    shown: (tenant, gpu) => (kind.shown ?? kind.text)(raw(tenant, gpu)),
    text: (tenant, gpu) => kind.text(raw(tenant, gpu)),
    all: tenant => facts.byGpu ? forGpus(read(tenant), kind.text) : kind.text(read(tenant)),
  };
}

// The table is the same for all, so it is asked for without a token, which may be an old one.
async function table() {
  for (;;) {
    try {
      return (await answer('/v1/limits', {withToken: ''})).limits;
    } catch {
      await new Promise(again => setTimeout(again, 1000));
    }
  }
}

export const LIMITS = Object.fromEntries((await table()).filter(facts => facts.changeable).map(facts => [facts.name, limit(facts)]));

// What is sent for a value that somebody wrote in the row of a GPU.
export const written = (name, text, tenant, gpu) =>
  LIMITS[name].byGpu && tenant.gpus.length > 1 && gpu && !text.includes('=') ? gpu.gpu + '=' + text : text;
// What is wrong with a value before the agent is asked: a number without its unit.
export const mistake = (name, text) => {
  const bare = LIMITS[name].unit && text.split(',').map(part => part.slice(part.indexOf('=') + 1).trim()).find(value => /^[\d.]+$/.test(value) && Number(value) !== 0);
  return bare ? bare + ' has no unit; write ' + bare + LIMITS[name].unit : '';
};
// A quota that is more than the GPU's memory limits nothing.
export const surplus = (name, tenant, gpu) => {
  const total = gpu && tenant.gpus.find(other => other.gpu === gpu.gpu)?.totalBytes;
  return LIMITS[name].kind === 'size' && total && LIMITS[name].value(tenant, gpu) > total ? ', more than the GPU has (' + size(total) + ')' : '';
};
