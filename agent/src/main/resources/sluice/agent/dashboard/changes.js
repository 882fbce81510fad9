// Brings a look up to date with what the agent tells of the next one (docs/agent.md). What is told whole replaces what was there.

const replace = (list, told, same) => {
  for (const next of told ?? []) {
    const index = list.findIndex(other => same(other, next));
    if (index >= 0) list[index] = next; else list.push(next);
  }
};

function numbers(tenant, told) {
  if (told.callsPerSecond !== undefined) tenant.callsPerSecond = told.callsPerSecond;
  for (const [at, usedBytes, peakBytes, refusedCalls, gotPermille, submittedPerSecond, refusedPerSecond, capWaitedPermille, turnWaitedPermille] of told.gpus) {
    Object.assign(tenant.gpus[at], {usedBytes, peakBytes, refusedCalls});
    Object.assign(tenant.rates[at], {gotPermille, submittedPerSecond, refusedPerSecond, capWaitedPermille, turnWaitedPermille});
  }
}

function turns(board, {tenants, board: index, ...told}) {
  Object.assign(board, told);
  for (const [at, holds, wants, lengthNanos, heldNanos, count, waitingNanos] of tenants) {
    Object.assign(board.tenants[at], {holds: holds === 1, wants: wants === 1, lengthNanos, heldNanos, turns: count, waitingNanos});
  }
}

// Whether the changes are those of this look.
export function apply(look, changes) {
  if (look?.look !== changes.after) return false;
  look.look = changes.look;
  look.atNanos = changes.atNanos;
  replace(look.gpus, changes.gpus, (a, b) => a.uuid === b.uuid);
  if (changes.gone) look.tenants = look.tenants.filter(tenant => !changes.gone.includes(tenant.id));
  replace(look.tenants, changes.tenants, (a, b) => a.id === b.id);
  const byId = new Map(look.tenants.map(tenant => [tenant.id, tenant]));
  for (const told of changes.numbers ?? []) numbers(byId.get(told.id), told);
  if (changes.boards) look.boards = changes.boards;
  for (const told of changes.turns ?? []) turns(look.boards[told.board], told);
  if (changes.findings) look.findings = changes.findings;
  return true;
}
