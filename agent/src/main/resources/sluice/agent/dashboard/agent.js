// The way to the agent. Its events are read with fetch, because that can send the token; EventSource cannot.

const KEPT_AS = 'sluice-token';
const LONGEST_WAIT = 10;
let token = sessionStorage.getItem(KEPT_AS) ?? '';

export const hasToken = () => token !== '';
export function setToken(text) {
  token = text;
  if (text) sessionStorage.setItem(KEPT_AS, text); else sessionStorage.removeItem(KEPT_AS);
}

export async function ask(path, {method = 'GET', body, withToken = token, ...more} = {}) {
  const headers = withToken ? {Authorization: 'Bearer ' + withToken} : {};
  if (body) headers['Content-Type'] = 'application/json';
  return fetch(path, {method, headers: {...headers, ...more.headers}, body: body && JSON.stringify(body), cache: 'no-store', signal: more.signal});
}

export async function answer(path, options) {
  const response = await ask(path, options);
  const text = await response.text();
  if (!response.ok) throw new Error(errorOf(text) || 'the agent answered ' + response.status);
  return JSON.parse(text);
}

const errorOf = text => { try { return JSON.parse(text).error; } catch { return ''; } };

// Whether the agent takes this token: with a wrong one it refuses whatever it is asked.
export const isToken = async text => (await ask('/healthz', {withToken: text})).ok;

// Calls told.open, told.message(kind, text), told.refused(status, text), told.gone(seconds until the next try).
export class Stream {
  constructor(told) {
    this.told = told;
    this.seen = '';
    this.failures = 0;
    this.run();
  }

  again() {
    this.failures = 0;
    this.abort?.abort();
    this.wake?.();
  }

  async run() {
    for (;;) {
      try {
        await this.read();
      } catch {
        // Said by gone.
      }
      const seconds = Math.min(LONGEST_WAIT, 2 ** this.failures++);
      this.told.gone(seconds);
      await new Promise(wake => { this.wake = wake; setTimeout(wake, seconds * 1000); });
    }
  }

  async read() {
    this.abort = new AbortController();
    const response = await ask('/v1/events', {headers: this.seen ? {'Last-Event-ID': this.seen} : {}, signal: this.abort.signal});
    if (!response.ok) {
      this.told.refused(response.status, errorOf(await response.text()));
      return;
    }
    this.failures = 0;
    this.told.open();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const quiet = setTimeout(() => this.abort.abort(), 90_000);
      const {value, done} = await reader.read().finally(() => clearTimeout(quiet));
      if (done) return;
      const searched = Math.max(0, text.length - 1);
      text += value;
      for (let end = text.indexOf('\n\n', searched); end >= 0; end = text.indexOf('\n\n')) {
        this.message(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  }

  message(text) {
    let kind = 'message', data = '';
    for (const line of text.split('\n')) {
      if (line.startsWith('event: ')) kind = line.slice(7);
      else if (line.startsWith('id: ')) this.seen = line.slice(4);
      else if (line.startsWith('data: ')) data += line.slice(6);
    }
    if (data) this.told.message(kind, data);
  }
}
