// Changes a limit: an input in its cell, a question, the change, and a way back.
import {at, element, show} from './text.js';
import {LIMITS, mistake, surplus, written} from './limits.js';
import {answer, hasToken} from './agent.js';

let undo = null;
let hide = 0;

export function toast(text, wayBack = null) {
  undo = wayBack;
  at('toast').firstElementChild.textContent = text;
  show(at('undo'), wayBack !== null);
  show(at('toast'), true);
  clearTimeout(hide);
  hide = setTimeout(() => { if (!at('toast').contains(document.activeElement)) show(at('toast'), false); }, wayBack ? 30_000 : 8_000);
}

export function undoLast() {
  const wayBack = undo;
  undo = null;
  show(at('toast'), false);
  if (wayBack) wayBack();
}

// Asks before something is done. @param does: the word on the button that does it
export function ask(what, note, does) {
  at('confirm-yes').textContent = does;
  at('confirm-what').textContent = what;
  at('confirm-note').textContent = note;
  const dialog = at('confirm');
  return new Promise(done => {
    const yes = () => dialog.close('yes');
    const no = () => dialog.close('no');
    const closed = () => {
      at('confirm-yes').removeEventListener('click', yes);
      at('confirm-no').removeEventListener('click', no);
      done(dialog.returnValue === 'yes');
    };
    dialog.returnValue = 'no';
    at('confirm-yes').addEventListener('click', yes);
    at('confirm-no').addEventListener('click', no);
    dialog.addEventListener('close', closed, {once: true});
    dialog.showModal();
    at('confirm-yes').focus();
  });
}

const send = (tenant, limit, value) => answer('/v1/tenants/' + encodeURIComponent(tenant.tenant) + '/limits?uid=' + tenant.uid,
  {method: 'PATCH', body: {[limit]: value}});

async function change(tenant, gpu, limit, text, told) {
  const before = LIMITS[limit].shown(tenant, gpu), back = LIMITS[limit].all(tenant);
  try {
    const after = await send(tenant, limit, written(limit, text, tenant, gpu));
    told(after);
    toast(tenant.tenant + ': ' + LIMITS[limit].title + ' is ' + LIMITS[limit].shown(after, gpu) + surplus(limit, after, gpu) + ', was ' + before, async () => {
      try {
        told(await send(tenant, limit, back));
        toast(tenant.tenant + ': ' + LIMITS[limit].title + ' is ' + before + ' again');
      } catch (problem) {
        toast('Not undone: ' + problem.message);
      }
    });
  } catch (problem) {
    toast('Not changed: ' + problem.message);
  }
}

const note = limit => 'It holds for the running job at once.' + (LIMITS[limit].kind === 'size' ? ' What it has stays; nothing new is granted above it.' : '');

// told: is given the tenant as the agent has it afterwards
export function edit(cell, tenant, gpu, limit, told) {
  if (!hasToken() || cell.dataset.editing) return;
  const {choices, examples, title} = LIMITS[limit], chosen = choices.length > 0;
  const button = cell.querySelector('button');
  const input = element(chosen ? 'select' : 'input');
  choices.forEach(word => { element('option', '', word, input).value = word; });
  input.value = LIMITS[limit].text(tenant, gpu);
  input.setAttribute('aria-label', title + ' of ' + tenant.tenant + ': ' + examples);
  input.title = examples;
  input.autocomplete = 'off';
  cell.dataset.editing = 'yes';
  button.replaceWith(input);
  input.focus();
  input.select?.();
  let asking = false;
  const end = () => {
    delete cell.dataset.editing;
    if (!input.isConnected) return;
    const had = document.activeElement === input || document.activeElement === document.body;
    input.replaceWith(button);
    if (had) button.focus();
  };
  const take = async () => {
    const text = input.value.trim();
    if (asking) return;
    if (text === '' || text === LIMITS[limit].text(tenant, gpu)) { end(); return; }
    const wrong = mistake(limit, text);
    if (wrong) { toast('Not changed: ' + wrong); return; }
    asking = true;
    const sure = await ask('Set ' + title + ' of ' + tenant.tenant + ' from ' + LIMITS[limit].shown(tenant, gpu) + ' to ' + text + '?', note(limit), 'Set');
    end();
    button.focus();
    if (sure) await change(tenant, gpu, limit, text, told);
  };
  input.addEventListener('keydown', event => {
    if (event.key === 'Enter') { event.preventDefault(); take(); }
    if (event.key === 'Escape') end();
  });
  if (chosen) input.addEventListener('change', take);
  input.addEventListener('blur', () => { if (!asking) end(); });
}
