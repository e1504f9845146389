// Event traces between Meridian and other projects' Parquet: files of hyparquet-writer are read by
// Meridian, Meridian's are read by hyparquet.
// usage: node parquet.test.mjs FOLDER PROGRAM
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { parquetWriteBuffer } from 'hyparquet-writer';

const [folder, program] = process.argv.slice(2);
const CATEGORIES = [
  'link_busy', 'link_idle', 'thread_blocked', 'thread_unblocked', 'ostd_change', 'hop_arrive',
];
let failed = 0;

async function test(name, check) {
  try {
    await check();
    console.log(`PASS interop/parquet: ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL interop/parquet: ${name}: ${String(error.message ?? error).split('\n')[0]}`);
  }
}

function expect(what, got, want) {
  if (!Object.is(got, want)) throw new Error(`${what} is ${String(got)}, not ${String(want)}`);
}

// Event records as Meridian prints them.
function dump(path) {
  const text = execFileSync(program, ['dump', '--table', 'event', '--format', 'json', path], {
    maxBuffer: 1 << 30,
  });
  return text.toString().trimEnd().split('\n').filter((line) => line).map((line) => JSON.parse(line));
}

function compare(got, want) {
  expect('number of rows', got.length, want.length);
  want.forEach((row, i) => {
    for (const key of ['time_ns', 'category', 'component', 'value', 'detail_json'])
      expect(`${key}[${i}]`, got[i][key], row[key]);
  });
}

// Many ties, a few long texts, nulls; sorted by time or not.
function rows(count, sorted) {
  return Array.from({ length: count }, (_, i) => ({
    time_ns: sorted ? Math.floor(i / 3) * 0.1 : (i * 7919) % 1000,
    category: CATEGORIES[i % 6],
    component: i % 5 ? `link_${i % 4}_${i % 3}_req` : 'unité 中',
    value: i / 7,
    detail_json: i % 3 ? null : JSON.stringify({ i, text: 'x'.repeat(i % 40) }),
  }));
}

function column(list, name, type, more) {
  return { name, type, data: list.map((row) => row[name]), ...more };
}

function write(path, list, { time = 'DOUBLE', text = {}, number = {}, timeEncoding, ...options } = {}) {
  const times = column(list, 'time_ns', time, timeEncoding ? { encoding: timeEncoding } : number);
  if (time === 'INT64') times.data = times.data.map((t) => BigInt(t));
  writeFileSync(path, Buffer.from(parquetWriteBuffer({
    columnData: [
      times,
      column(list, 'category', 'STRING', { nullable: false, ...text }),
      column(list, 'component', 'STRING', { nullable: false, ...text }),
      column(list, 'value', 'DOUBLE', number),
      column(list, 'detail_json', 'STRING', { nullable: true }),
    ],
    ...options,
  })));
}

const VARIANTS = {
  snappy: {},
  uncompressed: { codec: 'UNCOMPRESSED' },
  'small pages and row groups': { pageSize: 4096, rowGroupSize: 777 },
  'plain texts': { text: { encoding: 'PLAIN' } },
  'delta lengths': { text: { encoding: 'DELTA_LENGTH_BYTE_ARRAY' } },
  'byte stream split': { number: { encoding: 'BYTE_STREAM_SPLIT' } },
  'no statistics': { statistics: false },
};

for (const [name, options] of Object.entries(VARIANTS)) {
  await test(`hyparquet-writer, ${name}`, () => {
    const path = join(folder, 'foreign.parquet');
    const list = rows(5000, true);
    write(path, list, options);
    compare(dump(path), list);
  });
}

for (const timeEncoding of ['PLAIN', 'DELTA_BINARY_PACKED']) {
  await test(`hyparquet-writer, int64 time, ${timeEncoding}, not sorted`, () => {
    const path = join(folder, 'foreign-int64.parquet');
    const list = rows(5000, false);
    write(path, list, { time: 'INT64', timeEncoding });
    // Equal times keep file order: Array.prototype.sort is stable.
    compare(dump(path), list.sort((a, b) => a.time_ns - b.time_ns));
  });
}

await test('hyparquet-writer, sim_end_ns in the metadata', () => {
  const path = join(folder, 'foreign-end.parquet');
  write(path, rows(10, true), { kvMetadata: [{ key: 'sim_end_ns', value: '123.5' }] });
  const window = JSON.parse(execFileSync(program, ['window', path, '--format', 'json']).toString());
  expect('end_ns', window.bounds.end_ns, 123.5);
});

await test('hyparquet-writer, a null time is refused with its row', () => {
  const path = join(folder, 'foreign-null.parquet');
  const list = rows(100, true);
  list[41].time_ns = null;
  write(path, list);
  const run = spawnSync(program, ['info', path]);
  expect('exit code', run.status, 1);
  const text = run.stderr.toString();
  if (!text.includes('row 41') || !text.includes('time_ns')) throw new Error(text);
});

await test('hyparquet reads a generated trace', async () => {
  const path = join(folder, 'ours.parquet');
  execFileSync(program, ['gen', 'event-trace', '--events', '70000', '--seed', '3', path]);
  const bytes = readFileSync(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const metadata = parquetMetadata(file);
  const keys = new Map(metadata.key_value_metadata.map((entry) => [entry.key, entry.value]));
  expect('schema_version', keys.get('schema_version'), '1');
  expect('producer', keys.get('producer').startsWith('meridian'), true);
  expect('rows of the first row group', Number(metadata.row_groups[0].num_rows), 65536);
  for (const chunk of metadata.row_groups[0].columns)
    expect('codec', chunk.meta_data.codec, 'ZSTD');
  expect('time statistics', metadata.row_groups[0].columns[0].meta_data.statistics !== undefined, true);
  const list = await parquetReadObjects({ file, compressors });
  for (let i = 1; i < list.length; i++)
    if (list[i].time_ns < list[i - 1].time_ns) throw new Error(`row ${i} is not in time order`);
  if (Number(keys.get('sim_end_ns')) < list.at(-1).time_ns) throw new Error('sim_end_ns is too small');
  compare(dump(path), list.map((row) => ({ ...row, detail_json: row.detail_json ?? null })));
});

process.exit(failed ? 1 : 0);
