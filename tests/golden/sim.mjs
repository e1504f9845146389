// `sim run` and `sim sweep`: the figures of the spec's examples, what a trace changes (nothing) and
// holds, and every bad spec with its words.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { dump, expectSame, finish, info, meridian, show, test, Wrong } from "./lib/run.mjs"

const scratch = mkdtempSync(join(tmpdir(), "meridian-sim-"))
const file = (name) => join(scratch, name)
const base = { primitive: "allreduce", algorithm: "ring", topology: "ring-4", msg_size_bytes: 4096 }

async function command(code, args, spec) {
  writeFileSync(file("spec.json"), typeof spec === "string" ? spec : JSON.stringify(spec))
  const run = await meridian([...args, "spec.json"], scratch)
  if (run.code !== code) throw new Wrong(`${args.join(" ")} ended with ${run.code}: ${run.stderr}`)
  return { out: run.stdout.toString(), said: run.stderr }
}
async function sim(spec, args = []) {
  return JSON.parse((await command(0, ["sim", "run", "--json", ...args], spec)).out)
}
function near(what, got, want, off = 1e-9) {
  if (!(Math.abs(got - want) <=
    off * Math.abs(want))) throw new Wrong(`${what} is ${got}, not ${want}`)
}

await test("sim/16 chips, ring, 512 KiB", async () => {
  const { summary: s, per_chip, straggler } = await sim(
    { ...base, topology: "torus-2d-4x4", msg_size_bytes: 524288 })
  expectSame("bytes, steps, chips", [s.total_comm_bytes, s.algorithm_steps, s.num_participants],
    [15728640, 30, 16])
  near("bus_bw_gb_per_s", s.bus_bw_gb_per_s, 524288 / s.total_latency_ns * 30 / 16)
  near("alg_bw_gb_per_s", s.alg_bw_gb_per_s, 524288 / s.total_latency_ns)
  expectSame("members", Object.keys(s), ["total_latency_ns", "total_comm_bytes", "num_participants",
    "algorithm_steps", "bus_bw_gb_per_s", "alg_bw_gb_per_s", "ideal_latency_ns", "data_done_ns",
    "bottleneck", "algorithm_used", "events", "packets", "wall_ms"])
  expectSame("the largest chip latency", Math.max(...per_chip.map((c) => c.latency_ns)),
    s.total_latency_ns)
  expectSame("slowest", per_chip[straggler.chip_id].latency_ns, s.total_latency_ns)
})

await test("sim/8 chips, the acceptance table", async () => {
  const result = await sim({ ...base, topology: "star-8", msg_size_bytes: 1048576 })
  expectSame("members", Object.keys(result),
    ["summary", "per_chip", "straggler", "stats", "trace_file_path", "result_id"])
  expectSame("not stored", [result.trace_file_path, result.result_id], [null, null])
  expectSame("chips", result.per_chip.map((c) => c.chip_id), [0, 1, 2, 3, 4, 5, 6, 7])
  let bytes = 0
  for (let i = 0; i < 8; i++) {
    const chip = result.per_chip[i]
    if (!(chip.latency_ns > 0) || chip.is_straggler) throw new Wrong(show(chip))
    // 14 sends, as many receives, 7 reductions
    expectSame("cmd_count", result.stats[`cdma_chip${i}_unit0.cmd_count`], 35)
    bytes += result.stats[`cdma_chip${i}_unit0.total_bytes`]
    expectSame("latency", chip.latency_ns, result.stats[`cdma_chip${i}.last_done_ns`])
    expectSame("bytes out and in", result.stats[`link_c${i}_sw0_req.bytes`],
      result.stats[`link_sw0_c${i}_req.bytes`])
    for (const key of ["blocked_count", "ostd_wait_ns"])
      if (!(`cdma_chip${i}_unit0.${key}` in result.stats)) throw new Wrong(`no ${key}`)
  }
  expectSame("bytes", [bytes, result.summary.total_comm_bytes], [14 * 1048576, 14 * 1048576])
  for (const key of ["core_subsys.tiu.total_flops", "core_subsys.sdma.total_bytes",
    "bus.total_transfers", "kernel.total_events", "kernel.total_sim_time_ns"])
    if (!(`multi_chip.${key}` in result.stats)) throw new Wrong(`no multi_chip.${key}`)
  expectSame("additions", result.stats["multi_chip.core_subsys.tiu.total_flops"], 7 * 1048576 / 2)
})

await test("sim/closed forms in mode ideal, every number of chips", async () => {
  const sizes = [2, 3, 5, 6, 8, 12]
  const run = await command(0, ["sim", "sweep", "--json"], { ...base, mode: "ideal",
    algorithm: ["ring", "halving_doubling", "recursive_doubling", "tree"],
    topology: sizes.map((n) => `star-${n}`), msg_size_bytes: 120000 })
  const rows = run.out.trim().split("\n").map((line) => JSON.parse(line).summary)
  expectSame("rows", rows.map((r) => r.num_participants), [...sizes, ...sizes, ...sizes, ...sizes])
  for (const row of rows)
    near(`${row.algorithm_used} of ${row.num_participants}`, row.data_done_ns,
      row.ideal_latency_ns, 1e-7)
  const m = 120000 / 5 // alpha 500 ns, 50 GB/s
  near("ring of 5", rows[2].data_done_ns, 8 * (500 + m / 50))
})

await test("sim/a trace changes nothing", async () => {
  for (const more of [{}, { mode: "ideal" }, { step_mode: "dataflow", pipeline: 4 },
    { step_mode: "lockstep", vc_mode: "shared_wire", topology: "torus-2d-2x4" },
    { link: { credits: 2, error_rate: 0.05 }, cdma: { max_outstanding: 2, recv_ahead: 0 } }]) {
    const spec = { ...base, topology: "ring-8", msg_size_bytes: 65536, ...more }
    const told = []
    for (const args of [[], ["--trace", "t.parquet"], ["--trace", "t.parquet", "--trace-limit",
      "9"]]) {
      const text = (await command(0, ["sim", "run", "--json", ...args], spec)).out
      told.push(text.replace(/"wall_ms":[^,}]*/, "").replace(/"trace_file_path":[^,]*/, ""))
    }
    expectSame("L1 and L2 with a trace", told[1] === told[0], true)
    expectSame("L1 and L2 with a short trace", told[2] === told[0], true)
    const chips = JSON.parse(told[0].replace(",,", ",").replace(/,}/g, "}").replace("{,", "{"))
    if (chips.per_chip.length !== 8) throw new Wrong(show(chips.per_chip))
  }
})

await test("sim/a trace in the place of its spec is refused", async () => {
  const spec = { ...base, topology: "ring-4", msg_size_bytes: 1024 }
  const { said } = await command(2, ["sim", "run", "--trace=./spec.json"], spec)
  if (!/would overwrite the input spec.json/.test(said)) throw new Wrong(said)
  expectSame("spec", JSON.parse(readFileSync(file("spec.json"))), spec)
})

await test("sim/32 chips, 1 MiB: the trace", async () => {
  const spec = { ...base, topology: "star-32", msg_size_bytes: 1048576 }
  const result = await sim(spec, ["--trace", "big.parquet"])
  expectSame("path", result.trace_file_path, "big.parquet")
  const size = statSync(file("big.parquet")).size, got = await info(["big.parquet"], scratch)
  if (got.counts.event <= 1000 || size >= 1 << 20)
    throw new Wrong(`${got.counts.event} records in ${size} bytes`)
  expectSame("losses", got.losses, [])
  const hops = (await dump("event", ["big.parquet"], scratch)).filter((e) => e.category ===
    "hop_arrive")
  // 8 data packets of each of 32 * 62 messages over 2 links
  expectSame("hops", hops.length, 32 * 62 * 8 * 2)
  const again = await sim(spec, ["--trace", "again.parquet"])
  expectSame("the same again", [again.stats, readFileSync(file("again.parquet")).equals(
    readFileSync(file("big.parquet")))], [result.stats, true])
  const groups = { ...spec, trace: { enabled: true, categories: ["link"] } }
  await sim(groups, ["--trace", "links.parquet"])
  const kinds = new Set((await dump("event", ["links.parquet"], scratch)).map((e) => e.category))
  expectSame("one group", [...kinds].sort(), ["link_busy", "link_idle"])
})

await test("sim/the commands of a run open as slices", async () => {
  const spec = { ...base, topology: "ring-8", msg_size_bytes: 1048576, pipeline: 2 }
  const stored = await sim(spec, ["--trace", "--data", "commands"])
  const records = join("commands", "traces", "1", `${stored.result_id}_records.parquet`)
  const got = await info([records], scratch)
  expectSame("format", got.files[0].format, "command_parquet")
  expectSame("losses", got.losses.map((l) => [l.name, l.count]), [["inexact_time", 288]])
  const slices = await dump("slice", [records], scratch)
  // a chip sends and receives 14 times; 7 received ones are reduced
  expectSame("names", ["send", "recv", "reduce"].map((n) => slices.filter((s) => s.name === n).length),
    [112, 112, 56])
  expectSame("chips", [...new Set(slices.map((s) => s.process))],
    [0, 1, 2, 3, 4, 5, 6, 7].map((n) => `chip ${n}`))
  expectSame("none inside another", slices.filter((s) => s.depth !== 0 || s.flags !== ""), [])
  for (const s of slices) {
    const { start_ns, end_ns } = JSON.parse(s.args)
    expectSame("rounded", [BigInt(s.ts_ns), BigInt(s.ts_ns) + BigInt(s.dur_ns)],
      [BigInt(Math.round(start_ns)), BigInt(Math.round(end_ns))])
  }
  const ids = new Map(slices.map((s) => [JSON.parse(s.args).cmd_id, s]))
  for (const s of slices.filter((one) => one.name === "recv")) {
    const { source_op_id, peer } = JSON.parse(s.args), send = ids.get(source_op_id)
    expectSame("its send", [send.name, send.process], ["send", `chip ${peer}`])
  }
  const lanes = (await dump("track", [records], scratch)).filter((t) => String(t.pid) === "0")
  expectSame("lanes of a chip", [...new Set(lanes.map((t) => t.name))],
    ["cdma 0 thread 0", "tiu 0 thread 0"])
})

await test("sim/stragglers", async () => {
  const spec = { ...base, algorithm: "direct", primitive: "allgather", topology: "full-8",
    msg_size_bytes: 8388608 }
  const even = await sim(spec)
  expectSame("none", [even.per_chip.filter((c) => c.is_straggler).length, even.straggler.ratio,
    even.straggler.reason], [0, 1, null])
  const slow = await sim({ ...spec, disturb: [{ link: ["c3", "c5"], bandwidth_factor: 0.1 }] })
  expectSame("both ends of the slow link", slow.per_chip.filter((c) => c.is_straggler).map(
    (c) => c.chip_id), [3, 5])
  if (!(slow.straggler.ratio > 1.1)) throw new Wrong(show(slow.straggler))
  const sorted = slow.per_chip.map((c) => c.latency_ns).sort((a, b) => a - b)
  near("ratio", slow.straggler.ratio, sorted[7] / ((sorted[3] + sorted[4]) / 2))
  if (typeof slow.straggler.reason !== "string") throw new Wrong(show(slow.straggler))
  const two = await sim({ ...base, topology: "p2p", primitive: "p2p", algorithm: "direct" })
  expectSame("two chips", two.per_chip.length, 2)
})

const choices = "auto, ring, halving_doubling, recursive_doubling, tree, double_binary_tree"
const bad = [
  [{ primitive: "x" },
    'primitive: "x", allowed: one of allreduce, allgather, reducescatter, alltoall, p2p'],
  [{ algorithm: "bruck" }, `algorithm: "bruck" of allreduce, allowed: ${choices}`],
  [{ algorithm: 7 }, /^algorithm: 7, allowed: one of auto, ring, /],
  [{ msg_size_bytes: -1 }, "msg_size_bytes: -1, allowed: a whole number 0 to 1099511627776 B"],
  [{ msg_size_bytes: 1.5 }, "msg_size_bytes: 1.5, allowed: a whole number 0 to 1099511627776 B"],
  [{ msg_size_bytes: "1" }, 'msg_size_bytes: "1", allowed: a whole number 0 to 1099511627776 B'],
  [{ msg_size_bytes: [1, 2] },
    "msg_size_bytes: [1,2], allowed: a whole number 0 to 1099511627776 B"],
  [{ msg_size_bytes: undefined },
    "msg_size_bytes: missing, required: primitive, algorithm, topology, msg_size_bytes"],
  [{ dtype: "fp64" }, 'dtype: "fp64", allowed: one of fp32, fp16, bf16, fp8, int8'],
  [{ mode: "fluid" }, 'mode: "fluid", allowed: one of packet, ideal'],
  [{ step_mode: "x" }, 'step_mode: "x", allowed: one of barrier, dataflow, lockstep'],
  [{ vc_mode: "x" }, 'vc_mode: "x", allowed: one of independent, shared_wire'],
  [{ switching: "x" }, 'switching: "x", allowed: one of store_and_forward, cut_through'],
  [{ deadlock_avoidance: "x" }, 'deadlock_avoidance: "x", allowed: one of bubble, none'],
  [{ pipeline: 65 }, "pipeline: 65, allowed: a whole number 1 to 64 pieces"],
  [{ seed: -1 }, /^seed: -1, allowed: a whole number 0 to 9007199254740992/],
  [{ check_data: 1 }, "check_data: 1, allowed: true or false"],
  [{ topology: "rng-4" },
    /^topology: "rng-4" is not one of p2p, ring-N, full-N, star-N, .*dragonfly-/],
  [{ topology: "ring-1" }, /^topology: "ring-1" has 1 chips .*allowed 2 chips to 4096 nodes/],
  [{ topology: "ring-99999" }, 'topology: number 1 in "ring-99999" is 99999, allowed 1..4096'],
  [{ topology: { name: "g", nodes: ["a b", "c"], links: [] } },
    /^topology\.nodes: "a b", allowed: a name of 1 to 32 of /],
  [{ topology: { name: "g", nodes: ["c0", "c1"], links: [] } },
    "topology.links: 0 links, allowed: a list of 1 to 16384"],
  [{ link: { bandwidth: 5 } },
    /^link\.bandwidth: unknown field, allowed: .*link\.bandwidth_gb_per_s/],
  [{ link: { bandwidth_gb_per_s: 0 } },
    /^link\.bandwidth_gb_per_s: 0, allowed: a number 0\.001 to /],
  [{ link: { latency_ns: -1 } }, /^link\.latency_ns: -1, allowed: a number 0 to /],
  [{ link: { packet_bytes: -1 } },
    /^link\.packet_bytes: -1, allowed: a whole number 0 to 1073741824 B/],
  [{ link: { header_bytes: 1e9 } },
    /^link\.header_bytes: 1000000000(\.0)?, allowed: a whole number 0 to 65536 B/],
  [{ link: { ack_bytes: -4 } }, /^link\.ack_bytes: -4, allowed: a whole number 0 to 65536 B/],
  [{ link: { credits: 0 } }, "link.credits: 0, allowed: a whole number 1 to 16777216 packets"],
  [{ link: { error_rate: 1 } }, /^link\.error_rate: 1, allowed: a number 0 to 0\.9/],
  [{ link: { latency_first: "x" } }, 'link.latency_first: "x", allowed: true or false'],
  [{ switch: { latency_ns: null } }, /^switch\.latency_ns: null, allowed: a number 0 to /],
  [{ cdma: { units: 65 } }, /^cdma\.units: 65, allowed: a whole number 1 to 64/],
  [{ cdma: { threads: 0 } }, /^cdma\.threads: 0, allowed: a whole number 1 to 64/],
  [{ cdma: { max_outstanding: 0 } },
    /^cdma\.max_outstanding: 0, allowed: a whole number 1 to 16777216 packets/],
  [{ cdma: { recv_ahead: -2 } },
    /^cdma\.recv_ahead: -2, allowed: a whole number -1 to 1048576 steps/],
  [{ cdma: { header_bytes: -1 } }, /^cdma\.header_bytes: -1, allowed: a whole number 0 to 65536 B/],
  [{ compute: { reduce_gb_per_s: -1 } }, /^compute\.reduce_gb_per_s: -1, allowed: a number 0 to /],
  [{ compute: { sdma_gb_per_s: "fast" } },
    /^compute\.sdma_gb_per_s: "fast", allowed: a number 0 to /],
  [{ disturb: {} }, "disturb: {}, allowed: a list of objects"],
  [{ disturb: [{}] }, "disturb[0]: {}, allowed: an object with chip or link"],
  [{ disturb: [{ chip: 9 }] }, "disturb[0].chip: 9, allowed 0..3"],
  [{ disturb: [{ chip: 1, slow: 0 }] }, /^disturb\[0\]\.slow: 0, allowed: a number 1 to 1000/],
  [{ disturb: [{ chip: 1, late: 3 }] },
    'disturb[0]: unknown field "late", allowed: chip, slow, start_delay_ns'],
  [{ disturb: [{ link: ["c0", "c2"] }] },
    /^disturb\[0\]\.link: \["c0", "c2"\] is no link of the topology/],
  [{ trace: { categories: ["links"] } },
    'trace.categories: "links", allowed: link, ostd, thread, hop'],
  [{ trace: { enabled: "yes" } }, 'trace.enabled: "yes", allowed: true or false'],
  [{ x: 1 }, /^x: unknown field, allowed: primitive, algorithm, /],
]
await test("sim/bad specs name the field, the value and what is allowed", async () => {
  const wrong = []
  for (const [change, want] of [...bad, ["[]", "spec: [], allowed: an object"], ["{",
    /^no JSON: /]]) {
    const spec = typeof change === "string" ? change : { ...base, ...change }
    const { out, said } = await command(2, ["sim", "run", "--json"], spec)
    const text = said.replace(/^meridian: spec\.json: /, "").replace(/\n$/, "")
    const fits = typeof want === "string" ? text === want : want.test(text)
    if (!fits || out !== "") wrong.push(`${show(change)}: ${show(text)}`)
  }
  if (wrong.length) throw new Wrong(wrong.join("\n  "))
})

await test("sim/sweeps", async () => {
  const spec = { ...base, algorithm: ["ring", "auto"], msg_size_bytes: [0, 1024, 4096],
    disturb: [[], [{ chip: 1, slow: 2 }]] }
  const rows = (await command(0, ["sim", "sweep", "--json", "--jobs", "2"],
    spec)).out.trim().split("\n")
    .map((line) => JSON.parse(line))
  expectSame("runs in order, the first list slowest", rows.map((r) => r.summary.total_comm_bytes),
    [0, 0, 6144, 6144, 24576, 24576, 0, 0, ...rows.slice(8).map((r) => r.summary.total_comm_bytes)])
  expectSame("runs", rows.length, 12)
  for (let i = 2; i < 6; i += 2)
    if (rows[i + 1].summary.total_latency_ns <= rows[i].summary.total_latency_ns)
      throw new Wrong("a slow chip changes nothing")
  for (const [change, want] of [
    [{ dtype: ["fp16", "x"] }, /^meridian: spec\.json: dtype: "x", allowed: one of /],
    [{ seed: [] }, /^meridian: spec\.json: seed: \[\], allowed: a value or a list of values/],
    [{ seed: [[1]] }, /^meridian: spec\.json: seed: a list in a list/],
    [{ seed: Array.from({ length: 400 }, (_, i) => i), pipeline: Array(64).fill(1),
      dtype: Array(5).fill("fp8") },
      /^meridian: the sweep has more than 100000 runs, the most allowed/],
  ]) {
    const { out, said } = await command(change.pipeline ? 1 : 2, ["sim", "sweep", "--json"],
      { ...base, ...change })
    if (out !== "" || !want.test(said)) throw new Wrong(`${show(change)}: ${said}`)
  }
})

await test("sim/what cannot end says who waits for whom", async () => {
  const { said } = await command(1, ["sim", "run"], { ...base, primitive: "alltoall",
    algorithm: "pairwise",
    step_mode: "dataflow", topology: "ring-5", msg_size_bytes: 1048576, deadlock_avoidance: "none",
    link: { credits: 1 } })
  if (!/^meridian: deadlock at [\d.]+ ns: link_c\d_c\d_req waits for link_/.test(said))
    throw new Wrong(said)
})

await test("sim/where results go", async () => {
  for (const [args, want] of [
    [["--experiment", "x"], /--experiment needs --data or --store: nothing is stored without/],
    [["--trace"], /--trace needs a file name, --data or --store/],
    [["--trace=t.parquet", "--data", "d"], /the store names the file/],
  ]) {
    const { said } = await command(2, ["sim", "run", ...args], base)
    if (!want.test(said)) throw new Wrong(`${args.join(" ")}: ${said}`)
  }
  const { said } = await command(0, ["sim", "run"], { ...base, trace: { enabled: true } })
  expectSame("told", said,
    "meridian: trace.enabled: no trace is kept without --data, --store or --trace FILE\n")
  const stored = await sim({ ...base, trace_enabled: true, trace_categories: ["hop"] }, ["--data",
    "d"])
  expectSame("stored", [stored.result_id, stored.trace_file_path], [1, "traces/1/1_trace.parquet"])
  const row = JSON.parse((await meridian(["results", "show", "1", "--data", "d", "--json"],
    scratch)).stdout)
  expectSame("row", [row.total_latency_ns, row.algorithm_steps, row.stats, row.per_chip_summary],
    [stored.summary.total_latency_ns, 6, stored.stats, stored.per_chip])
  const again = await sim(row.config_snapshot, ["--data", "d"])
  expectSame("the snapshot runs again", again.stats, stored.stats)
})

rmSync(scratch, { recursive: true, force: true })
finish()
