// Reads a trace with Perfetto's own code, the WebAssembly build of its trace processor that its UI runs, and tells what it found there.
// usage: node read.mjs ENGINE-FOLDER TRACE [REPORT]    (read.sh fetches the engine; REPORT is the JSON of 'sluice report' of the same trace)
// Prints JSON. Exit status: 0 read without an error, 1 Perfetto counts errors or data lost, or says something else than REPORT, 2 it could
// not be read.
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import zlib from 'node:zlib';
import {pathToFileURL} from 'node:url';

const NUMBER = 1, TEXT = 'str_null'; // how QueryResult.iter is told a column's type; either may be null
const CHUNK = 32 << 20;

// The engine is made for a worker of a browser: it wants a scope, a file that it would fetch itself, and a port.
function startWorker(folder) {
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope ??= class {};
  globalThis.location ??= {href: pathToFileURL(folder + '/').href};
  globalThis.engineFile = new Uint8Array(fs.readFileSync(path.join(folder, 'trace_processor.wasm')));
  let source = fs.readFileSync(path.join(folder, 'engine_bundle.node.js'), 'utf8');
  for (const [from, to] of [
    ['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
    ['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.engineFile,'],
    ['const wasmBridge = new wasm_bridge_1.WasmBridge();', 'const wasmBridge = globalThis.engineBridge = new wasm_bridge_1.WasmBridge();'],
  ]) {
    if (!source.includes(from)) throw new Error(`this engine is of another build: it lacks '${from}'`);
    source = source.replace(from, to);
  }
  vm.runInThisContext(source, {filename: 'engine_bundle.node.js'});
  return globalThis.engineBridge;
}

async function until(condition, what) {
  for (const end = Date.now() + 20_000; !condition(); await new Promise((later) => setTimeout(later, 20))) {
    if (Date.now() > end) throw new Error(`${what} took longer than 20 s`);
  }
}

async function open(folder) {
  const {EngineBase} = await import(pathToFileURL(path.join(folder, 'engine.mjs')).href);
  const bridge = startWorker(folder);
  const {port1, port2} = new MessageChannel();
  bridge.initialize(port1);
  await until(() => bridge.reqBufferAddr !== 0, 'starting the engine');
  class Engine extends EngineBase {
    mode = 'WASM';
    id = 'sluice';
    constructor() {
      super();
      port2.onmessage = (message) => this.onRpcResponseBytes(message.data);
    }
    rpcSendRequestBytes(bytes) { port2.postMessage(bytes); }
  }
  return [new Engine(), () => { port1.close(); port2.close(); }];
}

async function rows(engine, sql, columns) {
  const result = await engine.query(sql);
  const found = [];
  for (const at = result.iter(columns); at.valid(); at.next()) {
    found.push(Object.fromEntries(Object.keys(columns).map((name) => [name, at[name]])));
  }
  return found;
}

async function read(folder, file) {
  const [engine, close] = await open(folder);
  const bytes = file.endsWith('.gz') ? zlib.gunzipSync(fs.readFileSync(file)) : fs.readFileSync(file);
  for (let at = 0; at < bytes.length; at += CHUNK) await engine.parse(new Uint8Array(bytes.subarray(at, at + CHUNK)));
  await engine.notifyEof();
  const one = async (sql) => (await rows(engine, `select (${sql}) as n`, {n: NUMBER}))[0].n;
  const found = {
    trace: path.basename(file),
    bytes: bytes.length,
    errors: await rows(engine, "select name, ifnull(idx, '') as idx, severity, value from stats where severity in ('error', 'data_loss') and value > 0",
      {name: TEXT, idx: TEXT, severity: TEXT, value: NUMBER}),
    processes: await rows(engine, 'select pid, name from process where pid > 0 order by pid', {pid: NUMBER, name: TEXT}),
    threads: await one('select count(*) from thread where tid > 0'),
    slices: await one('select count(*) from slice'),
    unended: await one('select count(*) from slice where dur < 0'),
    nested: await one('select count(*) from slice where depth > 0'),
    outside: await one('select count(*) from slice c join slice p on c.parent_id = p.id where c.ts < p.ts or c.ts + c.dur > p.ts + p.dur'),
    calls: await one("select count(*) from slice s join thread_track t on s.track_id = t.id where s.name glob 'cu*'"),
    batches: await one("select count(*) from slice where name = 'batch'"),
    counters: await one('select count(*) from counter'),
    nanos: await one('select end_ts - start_ts from trace_bounds'),
    tracks: await rows(engine, `select t.name as track, t.type as type, count(s.id) as slices, ifnull(sum(s.dur), 0) as nanos
        from track t left join slice s on s.track_id = t.id group by t.id order by slices desc, track limit 40`,
      {track: TEXT, type: TEXT, slices: NUMBER, nanos: NUMBER}),
    names: await rows(engine, 'select name, count(*) as slices, sum(dur) as nanos from slice group by name order by slices desc, name limit 1000',
      {name: TEXT, slices: NUMBER, nanos: NUMBER}),
  };
  close();
  return found;
}

// What both must say alike.
function differences(found, report) {
  const expected = {calls: report.calls, batches: report.gpus.reduce((sum, gpu) => sum + gpu.batches, 0)};
  for (const range of report.ranges) expected[`ranges '${range.name}'`] = range.count;
  const named = Object.fromEntries(found.names.map((name) => [`ranges '${name.name}'`, name.slices]));
  const said = {...named, calls: found.calls, batches: found.batches};
  return Object.entries(expected).filter(([what, count]) => (said[what] ?? 0) !== count)
    .map(([what, count]) => `${what}: ${said[what] ?? 0}, the report has ${count}`);
}

const [folder, file, report] = process.argv.slice(2);
if (!file) {
  console.error('usage: node read.mjs ENGINE-FOLDER TRACE [REPORT]');
  process.exit(2);
}
console.warn = () => {};
try {
  const found = await read(path.resolve(folder), file);
  found.differences = report ? differences(found, JSON.parse(fs.readFileSync(report, 'utf8'))) : [];
  console.log(JSON.stringify(found, null, 1));
  process.exit(found.errors.length > 0 || found.outside > 0 || found.differences.length > 0 ? 1 : 0);
} catch (failed) {
  console.error(`cannot read ${file}: ${failed?.message ?? failed}`);
  process.exit(2);
}
