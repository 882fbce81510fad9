// How numbers are written, and small help with elements. Texts from the agent only ever become text.

export const size = bytes => {
  let unit = 0;
  while (bytes >= 1024 && unit < 6) { bytes /= 1024; unit++; }
  return unit === 0 ? bytes + ' B' : bytes.toFixed(1) + ' ' + 'KMGTPE'[unit - 1] + 'iB';
};
export const percent = permille => permille < 0 ? '–' : (permille / 10).toFixed(permille > 0 && permille < 100 ? 1 : 0) + ' %';
export const count = number => number >= 1e6 ? (number / 1e6).toFixed(1) + ' M' : number >= 1e4 ? (number / 1e3).toFixed(0) + ' k' : Math.round(number).toString();
export const clock = (millis, seconds = true) =>
  new Date(millis).toLocaleTimeString([], {hour: '2-digit', minute: '2-digit', second: seconds ? '2-digit' : undefined, hour12: false});
export const some = (number, noun, nouns = noun + 's') => number + ' ' + (number === 1 ? noun : nouns);

export const at = id => document.getElementById(id);
export const element = (kind, name, text, parent) => {
  const made = document.createElement(kind);
  if (name) made.className = name;
  if (text !== undefined && text !== '') made.textContent = text;
  if (parent) parent.append(made);
  return made;
};
export const say = (place, text) => { if (place.textContent !== text) place.textContent = text; };
export const show = (place, shown) => { if (place.hidden === shown) place.hidden = !shown; };

// Tenants of two users may have the same name.
export const keyOf = (uid, name) => uid + '/' + name;
export const nameOf = key => key.slice(key.indexOf('/') + 1);
