// Chromium records the same kind of run as a Perfetto trace and as JSON (its own exporter); opened
// here they must agree in structure: processes, threads, categories, names, nesting, args.
// usage: node chrome.test.mjs FOLDER PROGRAM
//
// Two runs are never the same: what hangs on time (idle tasks, frames, retries of the network) comes
// more or less often. So the sets are compared of names that are frequent, and counts of names that
// belong to the start of the browser within a factor.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [folder, program] = process.argv.slice(2);
const browser = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const FREQUENT = 200; // events: a name that comes so often in one run comes in the other
const FACTOR = 4; // between the counts of a frequent name
let failed = 0;

function test(name, check) {
  try {
    check();
    console.log(`PASS interop/chrome: ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL interop/chrome: ${name}: ${String(error.message ?? error).split('\n')[0]}`);
  }
}

function expectEmpty(what, list) {
  if (list.length > 0) throw new Error(`${what}: ${list.slice(0, 5).join('; ')} (${list.length})`);
}

function record(format) {
  const path = join(folder, `run.${format === 'json' ? 'json' : 'pftrace'}`);
  const profile = mkdtempSync(join(tmpdir(), 'meridian-chrome-'));
  const page = "data:text/html,<title>t</title><script>for (let i = 0; i < 50; i++) "
    + "performance.mark('m' + i)</script><p>hello";
  const out = spawnSync(browser, [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
    `--user-data-dir=${profile}`, '--trace-startup=*', `--trace-startup-file=${path}`,
    `--trace-startup-format=${format}`, '--virtual-time-budget=2000', '--dump-dom', page,
  ], { timeout: 90_000 });
  rmSync(profile, { recursive: true, force: true });
  if (out.status !== 0 || !existsSync(path) || statSync(path).size === 0)
    throw new Error(`${browser} did not record (${out.status}): ${out.stderr}`);
  return path;
}

function query(path, sql) {
  const text = execFileSync(program, ['query', path, '--format', 'json', '-c', sql],
    { maxBuffer: 1 << 30 });
  return text.toString().split('\n').filter((line) => line).map((line) => JSON.parse(line));
}

/** What is compared of one trace. */
function structure(path) {
  const info = JSON.parse(execFileSync(program, ['info', '--json', path]));
  const names = new Map(query(path, 'SELECT name, count(*) AS n, max(depth) AS deepest, '
    + "string_agg(DISTINCT category, '|' ORDER BY category) AS cats FROM slice "
    + 'GROUP BY name').map((row) => [row.name, row]));
  const threads = query(path, 'SELECT DISTINCT p.name AS process, t.name AS thread FROM thread t '
    + 'JOIN process p USING (upid) WHERE t.name IS NOT NULL AND p.name IS NOT NULL');
  const args = new Map();
  // The exporter writes an empty message as a null pointer.
  for (const row of query(path, "SELECT s.name, regexp_replace(a.flat_key, '^(args|debug)\\.', '') "
    + "AS key, count(*) AS n FROM slice s JOIN args a USING (arg_set_id) "
    + "WHERE a.display_value IS DISTINCT FROM '0x0' GROUP BY ALL")) {
    if (!args.has(row.name)) args.set(row.name, new Map());
    args.get(row.name).set(ownKey(row.key), row.n);
  }
  const parents = new Map(query(path, 'SELECT s.name, p.name AS above, count(*) AS n FROM slice s '
    + 'JOIN slice p ON p.id = s.parent_id WHERE s.dur > 0 GROUP BY ALL')
    .map((row) => [`${row.above} > ${row.name}`, row.n]));
  return { info, names, threads, args, parents };
}

// The exporter spells the place in the source in its own way (docs/peer-differences.md).
const SPELLED = {
  'task.posted_from.file_name': 'src_file', 'task.posted_from.function_name': 'src_func',
  'task.posted_from.line_number': 'src_line',
  'source.file_name': 'file_name', 'source.function_name': 'function_name',
  'source.line_number': 'line_number',
  'source_location.file_name': 'file_name', 'source_location.function_name': 'function_name',
};
const ownKey = (key) => SPELLED[key] ?? key;

function frequent(of) {
  return [...of.names].filter(([, row]) => row.n >= FREQUENT).map(([name]) => name);
}

/** Names or pairs of one side that the other side does not have at all. */
const missing = (list, other) => list.filter((one) => !other.has(one));

function compare(proto, json) {
  test('no error and no lost data', () => {
    for (const one of [proto, json])
      expectEmpty('losses', one.info.losses.filter((loss) => loss.severity !== 'info')
        .map((loss) => `${loss.name} ${loss.count}`));
  });
  test('processes and their threads', () => {
    const set = (of) => new Set(of.threads.map((t) => `${t.process} / ${t.thread}`));
    const usual = /^(Browser|GPU Process|Renderer|Service: network\S*) \/ (CrBrowserMain|CrGpuMain|CrRendererMain|Compositor|Chrome_IOThread|Chrome_ChildIOThread|VizCompositorThread|ThreadPoolForegroundWorker|network.CrUtilityMain)$/;
    const [a, b] = [set(proto), set(json)].map((s) => [...s].filter((t) => usual.test(t)).sort());
    if (a.length < 8) throw new Error(`${a.length} of the usual threads are named`);
    expectEmpty('in one trace alone', [...missing(a, new Set(b)), ...missing(b, new Set(a))]);
  });
  test('names that come often', () => {
    if (frequent(proto).length < 20) throw new Error(`${frequent(proto).length} names come often`);
    expectEmpty('only in the Perfetto trace', missing(frequent(proto), json.names));
    expectEmpty('only in the JSON trace', missing(frequent(json), proto.names));
  });
  const both = frequent(proto).filter((name) => json.names.get(name)?.n >= FREQUENT);
  test('their categories', () => expectEmpty('differ', both.filter((name) =>
    proto.names.get(name).cats !== json.names.get(name).cats).map((name) =>
    `${name}: ${proto.names.get(name).cats}, ${json.names.get(name).cats}`)));
  test(`their counts within a factor of ${FACTOR}`, () => expectEmpty('differ', both.filter((name) => {
    const [a, b] = [proto.names.get(name).n, json.names.get(name).n];
    return Math.max(a, b) > FACTOR * Math.min(a, b);
  }).map((name) => `${name}: ${proto.names.get(name).n}, ${json.names.get(name).n}`)));
  test('their args', () => {
    const lost = [];
    for (const name of both) {
      const [a, b] = [proto, json].map((of) => of.args.get(name) ?? new Map());
      // A key that half of the events have on one side is there on the other.
      const often = (own, of) => [...own].filter(([, n]) => n * 2 >= of.names.get(name).n);
      for (const [key] of often(a, proto)) if (!b.has(key)) lost.push(`${name}: JSON has no ${key}`);
      for (const [key] of often(b, json))
        if (!a.has(key) && !/^source_location_iid$|\.size\(\)|_size\(\)/.test(key))
          lost.push(`${name}: the Perfetto trace has no ${key}`);
    }
    expectEmpty('differ', lost);
  });
  test('nesting', () => {
    // A child that comes often inside one rare slice hangs on what that slice happened to do.
    const usual = new Set(both);
    const often = (of) => [...of.parents].filter(([pair, n]) => n >= FREQUENT
      && pair.split(' > ').every((name) => usual.has(name))).map(([pair]) => pair);
    if (often(proto).length < 10) throw new Error(`${often(proto).length} pairs come often`);
    expectEmpty('only in the Perfetto trace', missing(often(proto), json.parents));
    expectEmpty('only in the JSON trace', missing(often(json), proto.parents));
  });
}

if (browser === undefined) {
  console.log('SKIP interop/chrome: no Chromium (Debian: apt-get install chromium)');
} else {
  let traces;
  test('records both forms', () => {
    traces = ['proto', 'json'].map((format) => structure(record(format)));
  });
  if (traces) compare(...traces);
}
process.exit(failed > 0 ? 1 : 0);
