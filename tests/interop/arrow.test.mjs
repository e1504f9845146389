// Streams of arrow_samples, read by the readers of other projects: schema, values, custom metadata.
// Files are read by apache-arrow; the others take streams only.
// usage: node arrow.test.mjs FOLDER
import { readdirSync } from 'node:fs';
import { arrowJs, duckdbWasm, loadSample, parquetWasm, sampleNames } from './readers.mjs';

const folder = process.argv[2];
let failed = 0;

function report(name, check) {
  try {
    check();
    console.log(`PASS ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${String(error.message ?? error).split('\n')[0]}`);
  }
}

function expect(what, got, want) {
  if (!Object.is(got, want)) throw new Error(`${what} is ${String(got)}, not ${String(want)}`);
}

// The value a reader must give for what stands in the expectation.
function wanted(type, value) {
  if (value === null) return null;
  if (type === 'int64' || type === 'uint64') return BigInt(value);
  if (type === 'float64') return Number(value);
  return value;
}

function checkColumns(got, want) {
  expect('number of rows', got.rows, want.rows);
  expect('number of columns', got.columns.length, want.fields.length);
  want.fields.forEach((field, i) => {
    expect(`name of column ${i}`, got.fields[i].name, field.name);
    expect(`length of ${field.name}`, got.columns[i].length, want.rows);
    for (let row = 0; row < want.rows; row++) {
      const value = wanted(field.type, want.columns[i][row]);
      expect(`${field.name}[${row}]`, got.columns[i][row], value);
    }
  });
}

function checkSchema(got, want) {
  want.fields.forEach((field, i) => {
    expect(`type of ${field.name}`, got.fields[i].type, field.type);
    expect(`nullable of ${field.name}`, got.fields[i].nullable, field.nullable);
    const nulls = want.columns[i].filter((v) => v === null).length;
    expect(`null count of ${field.name}`, got.nulls[i], nulls);
  });
  const keys = Object.keys(want.metadata);
  expect('number of metadata keys', got.metadata.size, keys.length);
  for (const key of keys) expect(`metadata ${key}`, got.metadata.get(key), want.metadata[key]);
}

// Rows of each record batch; that of an empty stream is there, with length 0.
function checkBatches(got, want) {
  expect('rows of the batches', got.batches.join(), want.batches.join());
}

const sqlTypes = {
  float64: 'DOUBLE',
  int64: 'BIGINT',
  uint64: 'UBIGINT',
  int32: 'INTEGER',
  uint32: 'UINTEGER',
  uint16: 'USMALLINT',
  uint8: 'UTINYINT',
  bool: 'BOOLEAN',
};

function checkDuckdb(read, bytes, want) {
  const got = read(bytes);
  checkColumns(got, want);
  want.fields.forEach((field, i) => {
    expect(`SQL type of ${field.name}`, got.fields[i].sql, sqlTypes[field.type] ?? 'VARCHAR');
  });
}

const readers = {
  'apache-arrow': [arrowJs, (read, bytes, want) => {
    const got = read(bytes);
    checkSchema(got, want);
    checkColumns(got, want);
    checkBatches(got, want);
  }],
  'parquet-wasm': [parquetWasm, (read, bytes, want) => {
    const got = read(bytes);
    checkSchema(got, want);
    checkColumns(got, want);
    checkBatches(got, want);
  }],
  'duckdb-wasm': [duckdbWasm, checkDuckdb],
};

// A reader that reads anything would prove nothing: the same check must notice a changed byte.
function plantedChange(read, check, sample) {
  const bytes = sample.bytes.slice();
  const want = structuredClone(sample.want);
  want.columns[0][1] = '-7';
  let noticed = false;
  try {
    check(read, bytes, want);
  } catch {
    noticed = true;
  }
  if (!noticed) throw new Error('a wrong expectation was accepted');
}

const names = sampleNames(folder, readdirSync(folder)).sort();
if (names.length === 0) {
  console.log(`FAIL interop/arrow: no samples in ${folder}`);
  process.exit(1);
}
for (const [reader, [make, check]] of Object.entries(readers)) {
  const read = await make();
  if (read === null) {
    console.log(`SKIP interop/arrow ${reader}: the npm package is not installed`);
    continue;
  }
  for (const name of names) {
    const sample = loadSample(folder, name);
    report(`interop/arrow ${reader} ${name}`, () => check(read, sample.bytes, sample.want));
    if (reader !== 'apache-arrow') continue;
    report(`interop/arrow ${reader} ${name} as a file`, () =>
      check(read, sample.file, sample.want));
  }
  report(`interop/arrow ${reader} notices a wrong value`, () =>
    plantedChange(read, check, loadSample(folder, 'int64-and-negative')));
}
process.exit(failed > 0 ? 1 : 0);
