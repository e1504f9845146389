// Three foreign readers of Arrow streams behind one face:
//   read(bytes) -> {fields: [{name, type?, nullable}], rows, columns: [[value]], metadata?: Map}
// with 64 bit integers as BigInt. A reader whose package is not there is null.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

// What make gives, or null when an npm package is not there.
export async function optional(make) {
  try {
    return await make();
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND' || error.code === 'ERR_MODULE_NOT_FOUND') return null;
    throw error;
  }
}

function typeName(arrow, type) {
  const { DataType } = arrow;
  if (DataType.isDictionary(type)) {
    return DataType.isUtf8(type.dictionary) && type.indices.isSigned
      ? `dict${type.indices.bitWidth}`
      : `dictionary ${type}`;
  }
  if (DataType.isInt(type)) return `${type.isSigned ? 'int' : 'uint'}${type.bitWidth}`;
  if (DataType.isFloat(type)) return `float${[16, 32, 64][type.precision]}`;
  if (DataType.isBool(type)) return 'bool';
  if (DataType.isUtf8(type)) return 'utf8';
  return String(type);
}

function fromTable(arrow, table) {
  const fields = table.schema.fields;
  return {
    fields: fields.map((f) => ({
      name: f.name,
      type: typeName(arrow, f.type),
      nullable: f.nullable,
    })),
    rows: table.numRows,
    columns: fields.map((_, i) => Array.from(table.getChildAt(i))),
    nulls: fields.map((_, i) => table.getChildAt(i).nullCount),
    batches: table.batches.map((batch) => batch.numRows),
    metadata: table.schema.metadata,
  };
}

export function arrowJs() {
  return optional(async () => {
    const arrow = await import('apache-arrow');
    return (bytes) => fromTable(arrow, arrow.tableFromIPC(bytes));
  });
}

// arrow-rs, the strict one. What it read goes back out through its own writer, so that values are
// those that arrow-rs saw.
export function parquetWasm() {
  return optional(async () => {
    const arrow = await import('apache-arrow');
    const wasm = await import('parquet-wasm');
    return (bytes) => {
      const table = wasm.Table.fromIPCStream(bytes);
      const batches = table.recordBatches().map((batch) => batch.numRows);
      const again = fromTable(arrow, arrow.tableFromIPC(table.intoIPCStream()));
      return { ...again, batches };
    };
  });
}

export function openDuckdb() {
  return optional(async () => {
    const duckdb = require('@duckdb/duckdb-wasm/blocking');
    const dist = dirname(require.resolve('@duckdb/duckdb-wasm/dist/duckdb-eh.wasm'));
    const bundles = {
      mvp: { mainModule: join(dist, 'duckdb-mvp.wasm'), mainWorker: '' },
      eh: { mainModule: join(dist, 'duckdb-eh.wasm'), mainWorker: '' },
    };
    const db = await duckdb.createDuckDB(bundles, new duckdb.VoidLogger(), duckdb.NODE_RUNTIME);
    await db.instantiate();
    return db;
  });
}

// DuckDB's own insertion; the columns come back by SQL.
export async function duckdbWasm() {
  const db = await openDuckdb();
  if (db === null) return null;
  let turn = 0;
  return (bytes) => {
    const connection = db.connect();
    const name = `t${turn++}`;
    connection.insertArrowFromIPCStream(bytes, { name });
    const described = connection.query(`DESCRIBE ${name}`);
    const names = Array.from(described.getChild('column_name'));
    const types = Array.from(described.getChild('column_type'));
    const columns = names.map((column) => {
      const table = connection.query(`SELECT "${column}" AS v FROM ${name} ORDER BY rowid`);
      return Array.from(table.getChildAt(0));
    });
    const count = connection.query(`SELECT count(*)::INTEGER AS n FROM ${name}`);
    const rows = count.getChildAt(0).get(0);
    connection.query(`DROP TABLE ${name}`);
    connection.close();
    return { fields: names.map((column, i) => ({ name: column, sql: types[i] })), rows, columns };
  };
}

export function sampleNames(folder, entries) {
  return entries.filter((f) => f.endsWith('.arrows')).map((f) => f.slice(0, -'.arrows'.length));
}

export function loadSample(folder, name) {
  return {
    bytes: new Uint8Array(readFileSync(join(folder, `${name}.arrows`))),
    file: new Uint8Array(readFileSync(join(folder, `${name}.arrow`))),
    want: JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')),
  };
}
