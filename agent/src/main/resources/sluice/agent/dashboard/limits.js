// The limits that can be changed: how each is shown, how it is written for the agent, and what puts it back.
import {percent, size} from './text.js';

const plainSize = bytes => {
  for (const [unit, power] of [['g', 2 ** 30], ['m', 2 ** 20], ['k', 1024]]) if (bytes >= power && Number.isInteger(bytes / power * 2)) return bytes / power + unit;
  return bytes + 'b';
};
const plainPercent = permille => permille === 0 ? 'none' : permille / 10 + '%';

// One value for all GPUs, or one for each.
const forGpus = (values, plain) => values.every(value => value === values[0]) ? plain(values[0]) : values.map((value, gpu) => gpu + '=' + plain(value)).join(',');
const ofGpu = (values, gpu) => values[gpu?.gpu ?? 0] ?? 0;

export const LIMITS = {
  memory: {
    label: 'memory', byGpu: true, hint: 'a size such as 6g or 512m, or none', unit: 'g',
    value: (tenant, gpu) => ofGpu(tenant.memoryLimitBytes, gpu),
    shown: (tenant, gpu) => ofGpu(tenant.memoryLimitBytes, gpu) ? size(ofGpu(tenant.memoryLimitBytes, gpu)) : 'none',
    text: (tenant, gpu) => ofGpu(tenant.memoryLimitBytes, gpu) ? plainSize(ofGpu(tenant.memoryLimitBytes, gpu)) : 'none',
    all: tenant => forGpus(tenant.memoryLimitBytes, bytes => bytes ? plainSize(bytes) : 'none'),
  },
  compute: {
    label: 'GPU time', byGpu: true, hint: 'a percentage such as 50%, or none', unit: '%',
    value: (tenant, gpu) => ofGpu(tenant.compute.capPermille, gpu),
    shown: (tenant, gpu) => ofGpu(tenant.compute.capPermille, gpu) ? percent(ofGpu(tenant.compute.capPermille, gpu)) : 'none',
    text: (tenant, gpu) => plainPercent(ofGpu(tenant.compute.capPermille, gpu)),
    all: tenant => forGpus(tenant.compute.capPermille, plainPercent),
  },
  weight: {
    label: 'weight', hint: 'a whole number, or none to take no turns',
    value: tenant => tenant.compute.turns ? tenant.compute.weight : 0,
    shown: tenant => tenant.compute.turns ? String(tenant.compute.weight) : 'none',
    text: tenant => tenant.compute.turns ? String(tenant.compute.weight) : 'none',
  },
  priority: {
    label: 'priority', words: ['high', 'normal', 'low'],
    value: tenant => ['low', 'normal', 'high'].indexOf(tenant.compute.priority),
    shown: tenant => tenant.compute.priority, text: tenant => tenant.compute.priority,
  },
};

// What is sent for a value that somebody wrote in the row of a GPU.
export const written = (limit, text, tenant, gpu) =>
  LIMITS[limit].byGpu && tenant.gpus.length > 1 && gpu && !text.includes('=') ? gpu.gpu + '=' + text : text;
// What is wrong with a value before the agent is asked: a number without its unit.
export const mistake = (limit, text) => {
  const bare = LIMITS[limit].unit && text.split(',').map(part => part.slice(part.indexOf('=') + 1).trim()).find(value => /^[\d.]+$/.test(value) && Number(value) !== 0);
  return bare ? bare + ' has no unit; write ' + bare + LIMITS[limit].unit : '';
};
// A quota that is more than the GPU's memory limits nothing.
export const surplus = (limit, tenant, gpu) => {
  const total = gpu && tenant.gpus.find(other => other.gpu === gpu.gpu)?.totalBytes;
  return limit === 'memory' && total && LIMITS.memory.value(tenant, gpu) > total ? ', more than the GPU has (' + size(total) + ')' : '';
};
export const putBack = (limit, tenant) => (LIMITS[limit].all ?? LIMITS[limit].text)(tenant);
