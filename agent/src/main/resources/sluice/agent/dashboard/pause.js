// Pauses and resumes: the state of a tenant in words, and buttons for who has the token.
import {element, say, size} from './text.js';
import {answer, hasToken} from './agent.js';
import {ask, toast} from './edit.js';

const CHOICES = {
  hold: {title: 'Pause', done: 'is paused', note: 'It submits no more work; its memory stays on the GPU. Connections of the job may time out meanwhile.'},
  release: {title: 'Release', done: 'is released', note: 'Its memory moves to host memory, and others can use the GPU.'},
  vacate: {title: 'Vacate', done: 'is vacated', note: 'Its memory and the driver’s own state leave the GPU. To come back it needs room for both at once.'},
  cancel: {title: 'Cancel', note: 'The pause is withdrawn, and the job does what it did before.'},
  resume: {title: 'Resume', done: 'runs', note: 'Its memory comes back to the GPU, and it goes on.'},
};

const age = nanos => {
  const seconds = Math.max(0, Math.floor(Date.now() / 1000 - nanos / 1e9));
  return seconds < 60 ? seconds + 's' : seconds < 3600 ? Math.floor(seconds / 60) + 'm' : seconds < 86400 ? Math.floor(seconds / 3600) + 'h' : Math.floor(seconds / 86400) + 'd';
};

// Of a step that moves bytes: how fast, and how long that will still take.
function speed(pause) {
  const seconds = Date.now() / 1000 - pause.stepNanos / 1e9;
  if (!pause.totalBytes || !pause.movedBytes || !pause.stepNanos || seconds <= 0) return '';
  const perSecond = pause.movedBytes / seconds;
  return ', ' + (perSecond / 1e9).toFixed(1) + ' GB/s, ' + Math.max(0, Math.ceil((pause.totalBytes - pause.movedBytes) / perSecond)) + 's left';
}

// As “sluice ps” says it: paused 3m; evicted 3m, 8.0 GiB away; pausing 25%, copying memory to the host.
export function stateOf(tenant) {
  const pause = tenant.pause;
  if (!pause || tenant.state === 'running') return tenant.state;
  const moving = pause.step !== 'none';
  return tenant.state
    + (pause.sinceNanos && !moving ? ' ' + age(pause.sinceNanos) : '')
    + (tenant.state === 'evicted' && pause.awayBytes ? ', ' + size(pause.awayBytes) + ' away' : '')
    + (moving && pause.totalBytes ? ' ' + Math.min(100, Math.floor(100 * pause.movedBytes / pause.totalBytes)) + '%' : '')
    + (moving ? ', ' + pause.stepWords + speed(pause) : '')
    + (pause.reason ? ': ' + pause.reason : '');
}

// A paused job can go deeper: a released one can still be vacated. Another choice than cancelling waits until the pause is done.
function choicesFor(tenant) {
  if (tenant.state === 'ended') return [];
  if (tenant.state === 'pausing') return ['cancel', 'resume'];
  if (tenant.state === 'paused') return ['release', 'vacate', 'resume'];
  if (tenant.state === 'evicted') return tenant.asked?.depth === 'release' ? ['vacate', 'resume'] : ['resume'];
  return ['hold', 'release', 'vacate'];
}

const end = operation => new Promise(done => {
  const look = async () => {
    try {
      const now = await answer('/v1/operations/' + operation.id);
      if (now.state === 'running') setTimeout(look, 500); else done(now);
    } catch (problem) {
      done({state: 'failed', reason: problem.message});
    }
  };
  look();
});

// Whoever began the pause by the agent. One of the command line is that command's to withdraw.
async function cancel(tenant) {
  try {
    const {operations} = await answer('/v1/operations');
    const running = operations.findLast(each => each.state === 'running' && each.kind !== 'resume' && each.tenant === tenant.tenant && each.uid === tenant.uid);
    if (!running) {
      toast('The agent does not know this pause; resume ' + tenant.tenant + ' instead.');
      return;
    }
    const last = await end(await answer('/v1/operations/' + running.id, {method: 'DELETE'}));
    toast(tenant.tenant + ': ' + last.state + (last.reason ? ', ' + last.reason : ''));
  } catch (problem) {
    toast('Not done: ' + problem.message);
  }
}

async function operate(tenant, name) {
  if (!await ask(CHOICES[name].title + ' ' + tenant.tenant + '?', CHOICES[name].note, CHOICES[name].title)) return;
  if (name === 'cancel') {
    await cancel(tenant);
    return;
  }
  const path = '/v1/tenants/' + encodeURIComponent(tenant.tenant) + (name === 'resume' ? '/resume' : '/pause') + '?uid=' + tenant.uid;
  try {
    const last = await end(await answer(path, {method: 'POST', body: name === 'resume' ? {} : {depth: name}}));
    toast(last.state === 'done' ? tenant.tenant + ' ' + CHOICES[name].done : tenant.tenant + ': ' + last.state + (last.reason ? ', ' + last.reason : ''));
  } catch (problem) {
    toast('Not done: ' + problem.message);
  }
}

// The buttons of one row, made anew only when others are needed.
export function buttons(place, tenant) {
  const wanted = hasToken() ? choicesFor(tenant) : [];
  place.tenant = tenant;
  if (place.dataset.choices === wanted.join()) return;
  place.dataset.choices = wanted.join();
  place.replaceChildren();
  for (const name of wanted) {
    const button = element('button', 'pause', '', place);
    button.type = 'button';
    say(button, CHOICES[name].title);
    button.addEventListener('click', () => operate(place.tenant, name));
  }
}
