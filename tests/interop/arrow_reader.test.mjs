// What other projects write, read by our reader (arrow_dump): files and streams of apache-arrow,
// streams of arrow-rs, files of DuckDB, nested columns in between, string views.
// usage: node arrow_reader.test.mjs FOLDER PROGRAM
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDuckdb, optional } from './readers.mjs';

const [folder, program] = process.argv.slice(2);
let failed = 0;

function report(name, check) {
  try {
    check();
    console.log(`PASS interop/arrow reader ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL interop/arrow reader ${name}: ${String(error.message ?? error).split('\n')[0]}`);
  }
}

function dump(name, bytes) {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  const max = 1 << 28;
  return JSON.parse(execFileSync(program, [path], { maxBuffer: max, stdio: ['ignore', 'pipe', 'pipe'] }));
}

function same(what, got, want) {
  const [a, b] = [JSON.stringify(got), JSON.stringify(want)];
  if (a !== b) throw new Error(`${what}: ${a.slice(0, 200)}, not ${b.slice(0, 200)}`);
}

function checkColumns(got, want) {
  same('columns', got.fields.map((f) => `${f.name}:${f.kind}`), Object.keys(want));
  Object.keys(want).forEach((key, i) => same(key, got.columns[i], want[key]));
}

function mixedTable(arrow) {
  const big = [9007199254740993n, -1n, null, 1731415926535897932n];
  const words = ['alpha', null, '\u8ba1\u7b97', 'alpha'];
  const v = (values, type) => arrow.vectorFromArray(values, type);
  const list = new arrow.List(new arrow.Field('item', new arrow.Utf8(), true));
  const struct = new arrow.Struct([
    new arrow.Field('x', new arrow.Int32(), true),
    new arrow.Field('y', list, true),
  ]);
  return new arrow.Table({
    i64: v(big, new arrow.Int64()),
    nested: v([{ x: 1, y: ['a', 'b'] }, null, { x: 3, y: [] }, { x: 4, y: null }], struct),
    f32: v([1.5, null, NaN, -2], new arrow.Float32()),
    list: v([['p'], [], null, ['q', 'r']], list),
    word: v(words, new arrow.Dictionary(new arrow.Utf8(), new arrow.Int16())),
    nothing: v([null, null, null, null], new arrow.Null()),
    text: v(words, new arrow.Utf8()),
    large: v(words, new arrow.LargeUtf8()),
    flag: v([true, null, false, true], new arrow.Bool()),
    i8: v([-128, 127, null, 0], new arrow.Int8()),
    u32: v([4294967295, 0, null, 7], new arrow.Uint32()),
    ts: v([1000, null, -1, 5], new arrow.TimestampMillisecond()),
    day: v([new Date(0), null, null, null], new arrow.DateDay()),
    dur: v([5n, null, 6n, 7n], new arrow.DurationMicrosecond()),
    last: v([1, 2, 3, 4], new arrow.Float64()),
  });
}

const mixedWant = {
  'i64:int': ['9007199254740993', '-1', null, '1731415926535897932'],
  'nested:other': [null, null, null, null],
  'f32:float': [1.5, null, 'NaN', -2],
  'list:other': [null, null, null, null],
  'word:text': ['alpha', null, '\u8ba1\u7b97', 'alpha'],
  'nothing:other': [null, null, null, null],
  'text:text': ['alpha', null, '\u8ba1\u7b97', 'alpha'],
  'large:text': ['alpha', null, '\u8ba1\u7b97', 'alpha'],
  'flag:bool': ['1', null, '0', '1'],
  'i8:int': ['-128', '127', null, '0'],
  'u32:int': ['4294967295', '0', null, '7'],
  'ts:timestamp': ['1000', null, '-1', '5'],
  'day:other': [null, null, null, null],
  'dur:duration': ['5', null, '6', '7'],
  'last:float': [1, 2, 3, 4],
};

function checkMixed(got) {
  checkColumns(got, mixedWant);
  same('units', got.fields.filter((f) => f.unit_ns > 0).map((f) => f.unit_ns), [1000000, 1000]);
}

async function arrowJs() {
  const arrow = await optional(() => import('apache-arrow'));
  if (arrow === null) return console.log('SKIP interop/arrow reader: apache-arrow is not installed');
  const table = mixedTable(arrow);
  report('apache-arrow stream', () => checkMixed(dump('js.arrows', arrow.tableToIPC(table, 'stream'))));
  report('apache-arrow file', () => checkMixed(dump('js.arrow', arrow.tableToIPC(table, 'file'))));
  report('apache-arrow custom metadata', () => {
    const schema = new arrow.Schema(table.schema.fields, new Map([['clock', 'BOOTTIME']]));
    const named = new arrow.Table(schema, table.batches);
    same('clock', dump('meta.arrows', arrow.tableToIPC(named, 'stream')).clock, 'BOOTTIME');
  });
  report('apache-arrow several batches', () => {
    const both = table.concat(table);
    const got = dump('two.arrow', arrow.tableToIPC(both, 'file'));
    same('rows', got.rows, 8);
    same('word', got.columns[4], [...mixedWant['word:text'], ...mixedWant['word:text']]);
  });
  report('apache-arrow string views', () => {
    const texts = ['short', null, '', 'longer than the twelve bytes of a view', '\u8ba1\u7b97'];
    const views = arrow.vectorFromArray(texts, new arrow.Utf8View());
    const after = arrow.vectorFromArray([1, 2, 3, 4, 5], new arrow.Float64());
    const bytes = arrow.tableToIPC(new arrow.Table({ views, after }), 'stream');
    checkColumns(dump('views.arrows', bytes), {
      'views:text': texts,
      'after:float': [1, 2, 3, 4, 5],
    });
  });
  const wasm = await optional(() => import('parquet-wasm'));
  if (wasm === null) return console.log('SKIP interop/arrow reader: parquet-wasm is not installed');
  report('arrow-rs stream', () => {
    const plain = table.select(Object.keys(mixedWant).map((key) => key.split(':')[0])
      .filter((name) => !['nothing'].includes(name)));
    const again = wasm.Table.fromIPCStream(arrow.tableToIPC(plain, 'stream')).intoIPCStream();
    const want = { ...mixedWant };
    delete want['nothing:other'];
    checkColumns(dump('rs.arrows', again), want);
  });
}

async function duckdb() {
  const db = await openDuckdb();
  if (db === null) return console.log('SKIP interop/arrow reader: duckdb-wasm is not installed');
  const sql = `SELECT i::BIGINT - 3 AS ts, 'name ' || (i % 3) AS name,
    CASE WHEN i % 2 = 0 THEN repeat('x', i::INTEGER) END AS text, i / 4.0::DOUBLE AS value,
    (i % 3 = 0) AS flag, [i] AS list FROM range(5000) t(i) ORDER BY i`;
  const rows = Array.from({ length: 5000 }, (_, i) => i);
  const want = {
    'ts:int': rows.map((i) => String(i - 3)),
    'name:text': rows.map((i) => `name ${i % 3}`),
    'text:text': rows.map((i) => (i % 2 === 0 ? 'x'.repeat(i) : null)),
    'value:float': rows.map((i) => i / 4),
    'flag:bool': rows.map((i) => (i % 3 === 0 ? '1' : '0')),
    'list:other': rows.map(() => null),
  };
  report('DuckDB file', () => {
    const connection = db.connect();
    const bytes = db.runQuery(connection.useUnsafe((_, id) => id), sql);
    connection.close();
    checkColumns(dump('duckdb.arrow', bytes), want);
  });
}

await arrowJs();
await duckdb();
process.exit(failed > 0 ? 1 : 0);
