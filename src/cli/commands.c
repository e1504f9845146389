#include "cli/cli.h"

const mrd__option mrd__common_options[] = {
    {"json", NULL, "machine-readable output where the command has text for people", false, 0},
    {"verbose", NULL, "say more on standard error", false, 0},
    {"help", NULL, "this text", false, 'h'},
    {0},
};

const mrd__option mrd__open_options[] = {
    {"threads", "N", "threads that read, 1 to 1024; default: one per core", false, 0},
    {"strict", NULL, "exit with 3 when anything in the input was lost", false, 0},
    {"manifest", "FILE", "machines and clocks of the files: docs/merging.md", false, 0},
    {"align", "HOW",
     "files whose clocks nothing relates: realtime (default), start, collectives or none", false,
     0},
    {"clock-interpolation", "HOW", "between clock snapshots: step (default) or linear", false, 0},
    {"no-cache", NULL, "read the files even where they are kept (cache list)", false, 0},
    {"verify-cache", NULL, "hash files and kept trace whole before it is taken", false, 0},
    {0},
};

const mrd__option mrd__store_options[] = {
    {"data", "DIR", "data folder; default: $XDG_DATA_HOME/meridian", false, 0},
    {"store", "URL", "result store; default: DIR/meridian.db", false, 0},
    {0},
};

static const mrd__option open_options[] = {
    {"listen", "ADDRESS:PORT", "where the page is served; default: 127.0.0.1:0, port 0 picks one",
     false, 0},
    {"token", "TEXT", "what requests must bring; required on an address that is not loopback",
     false, 0},
    {"no-browser", NULL, "do not start a browser", false, 0},
    {0},
};

static const mrd__option serve_options[] = {
    {"listen", "ADDRESS:PORT", "default: 127.0.0.1:0, port 0 picks one", false, 0},
    {"token", "TEXT", "what requests must bring; required on an address that is not loopback",
     false, 0},
    {0},
};

static const mrd__option dump_options[] = {
    {"table", "T",
     "slice, instant, counter, flow, process, thread, track, args, metadata, loss, machine,\n"
     "trace_file, track_origin, clock_snapshot or event",
     false, 't'},
    {"format", "F", "csv (default) or json: one object a line", false, 0},
    {0},
};

static const mrd__option window_options[] = {
    {"start-ns", "T", "start of the window; default: the trace's", false, 0},
    {"end-ns", "T", "end of the window, not in it; default: the trace's", false, 0},
    {"buckets", "N", "aggregate into N buckets, 1 to 4096; default: raw rows", false, 0},
    {"tracks", "IDS", "track ids of `dump --table track`, comma separated", true, 0},
    {"components", "IDS", "event traces: components, comma separated; %2C is a comma of an id",
     true, 0},
    {"categories", "NAMES", "event traces: categories, comma separated", true, 0},
    {"extra", "minmax", "event traces: least and greatest value of a bucket", false, 0},
    {"format", "F", "csv (default), json or arrow (IPC stream)", false, 0},
    {0},
};

static const mrd__option query_options[] = {
    {"sql", "SQL", "the statement; without it the last operand is one unless a file is called so",
     false, 'c'},
    {"format", "F", "table (default on a terminal), csv (default elsewhere), json, arrow, parquet",
     false, 0},
    {"time-limit-ms", "N", "stop a statement after so long; default: never", false, 0},
    {"repeat", "N", "before, run it N times and tell the times on standard error", false, 0},
    {0},
};

static const mrd__option diff_options[] = {
    {"limit", "N", "rows of each kind in text, 0 all; default: 20", false, 0},
    {0},
};

static const mrd__option convert_options[] = {
    {"start-ns", "T", "only what touches this time and later; slices stay whole", false, 0},
    {"end-ns", "T", "only what begins before this time", false, 0},
    {"tracks", "PATTERN", "only lanes of this name, or of a thread or process of this name", false,
     0},
    {"names", "PATTERN", "only slices and instants of this name; * ? and [a-z] are wildcards",
     false, 0},
    {0},
};

static const mrd__option gen_options[] = {
    {"events", "N", "events to write; default: 1000000", false, 'n'},
    {"seed", "S", "same seed, same trace; default: 1", false, 0},
    {"output", "FILE", "where to write; default: standard output", false, 'o'},
    {0},
};

static const mrd__option results_add_options[] = {
    {"experiment", "NAME", "made when it is not there; default: default", false, 0},
    {"link", NULL, "store the file's path instead of a copy; it is never deleted then", false, 0},
    {"config-snapshot", "JSON", "what repeats the run", false, 0},
    {"primitive", "TEXT", "allreduce, ...", false, 0},
    {"algorithm", "TEXT", "what was asked for", false, 0},
    {"algorithm-used", "TEXT", "what ran", false, 0},
    {"auto-candidates", "JSON", "what auto chose from", false, 0},
    {"msg-size-bytes", "N", NULL, false, 0},
    {"num-participants", "N", NULL, false, 0},
    {"topology-name", "TEXT", NULL, false, 0},
    {"dtype", "TEXT", NULL, false, 0},
    {"total-latency-ns", "X", NULL, false, 0},
    {"ideal-latency-ns", "X", NULL, false, 0},
    {"data-done-ns", "X", NULL, false, 0},
    {"bus-bw-gb-per-s", "X", NULL, false, 0},
    {"alg-bw-gb-per-s", "X", NULL, false, 0},
    {"max-chip-latency-ns", "X", NULL, false, 0},
    {"straggler-ratio", "X", NULL, false, 0},
    {"total-comm-bytes", "N", NULL, false, 0},
    {"algorithm-steps", "N", NULL, false, 0},
    {"per-chip-summary", "JSON", NULL, false, 0},
    {"stats", "JSON", NULL, false, 0},
    {"bottleneck", "TEXT", NULL, false, 0},
    {"events", "N", NULL, false, 0},
    {"wall-ms", "X", NULL, false, 0},
    {"seed", "N", NULL, false, 0},
    {"config-hash", "TEXT", NULL, false, 0},
    {"program-version", "TEXT", NULL, false, 0},
    {"created-at", "TIME", "UTC, 2026-04-28T10:30:00Z; default: now", false, 0},
    {0},
};

static const mrd__option results_list_options[] = {
    {"experiment", "NAME", NULL, true, 0},
    {"experiment-id", "ID", NULL, true, 0},
    {"primitive", "TEXT", NULL, true, 0},
    {"algorithm", "TEXT", "what was asked for or what ran", true, 0},
    {"topology-name", "PATTERN", "% and _ are wildcards, case is ignored", true, 0},
    {"msg-size-min", "N", NULL, false, 0},
    {"msg-size-max", "N", NULL, false, 0},
    {"sort-by", "COLUMN", "created_at (default), total_latency_ns, msg_size_bytes, bus_bw_gb_per_s",
     false, 0},
    {"sort-order", "ORDER", "desc (default) or asc", false, 0},
    {"page", "N", "from 1", false, 0},
    {"page-size", "N", "1 to 1000; default: 50", false, 0},
    {0},
};

static const mrd__option results_rm_options[] = {
    {"experiment", "NAME", "remove this experiment with all its results", false, 0},
    {0},
};

static const mrd__option sim_run_options[] = {
    {"trace", "[FILE.parquet]",
     "record events, into FILE; without it into the data folder (--data or --store)", false, 0},
    {"trace-limit", "N", "a trace ends after N records; the run goes on", false, 0},
    {"experiment", "NAME", "where the result stands; default: default", false, 0},
    {0},
};

static const mrd__option sim_sweep_options[] = {
    {"jobs", "N", "runs at a time; default: one per core", false, 'j'},
    {"part", "I/N", "only every N-th run, from run I (0 to N - 1) on", false, 0},
    {"resume", NULL, "leave out runs whose result is in the store already", false, 0},
    {"slurm", NULL, "submit the sweep as a job array; --jobs are cores of a task", false, 0},
    {"partition", "NAME", "with --slurm: where to", false, 0},
    {"max-jobs", "N", "with --slurm: tasks that run at a time", false, 0},
    {"trace-limit", "N", "a trace ends after N records; the run goes on", false, 0},
    {"experiment", "NAME", "where the results stand; default: default", false, 0},
    {0},
};

static const mrd__option record_options[] = {
    {"pid", "N", "this process and its descendants", false, 0},
    {"host", NULL, "the whole machine", false, 0},
    {"adapter", "CMD", "a shell command that prints one JSON object a line; may be repeated", true,
     0},
    {"out", "DIR", "the session's folder, must not exist; default: DATA/sessions/<uuid>", false,
     'o'},
    {"every", "TIME", "how often --pid, --host and the program are read; default: 100ms", false, 0},
    {"publish", "TIME", "how often windows age and frames are made; default: 1s", false, 0},
    {"duration", "TIME", "end after so long; default: with the target, or Ctrl+C", false, 0},
    {"restarts", "N", "start an adapter that broke again, at most so often; default: 0", false, 0},
    {"data", "DIR", "data folder; default: $XDG_DATA_HOME/meridian", false, 0},
    {"strict", NULL, "exit with 3 when anything was lost, refused or not decoded", false, 0},
    {0},
};

static const mrd__option session_ingest_options[] = {
    {"out", "DIR", "the session's folder, must not exist; default: DATA/sessions/<uuid>", false,
     'o'},
    {"data", "DIR", "data folder; default: $XDG_DATA_HOME/meridian", false, 0},
    {"strict", NULL, "exit with 3 when anything was lost or not decoded", false, 0},
    {0},
};

static const mrd__option session_list_options[] = {
    {"data", "DIR", "data folder; default: $XDG_DATA_HOME/meridian", false, 0},
    {0},
};

static const mrd__option session_samples_options[] = {
    {"metric", "ID", "only this metric; may be repeated", true, 0},
    {"start-ns", "NS", "only from this time of the host's monotonic clock on", false, 0},
    {"end-ns", "NS", "only before this time", false, 0},
    {"buckets", "N",
     "thin for drawing: of each curve in each of N parts of the range first, last, "
     "least, greatest and the first without a value",
     false, 0},
    {"format", "F", "csv (default), json (one object a line), arrow (IPC stream) or parquet", false,
     0},
    {"output", "FILE", "where to write; default: standard output (not for parquet)", false, 'o'},
    {0},
};

static const mrd__option report_options[] = {
    {"format", "F", "text (default), json, md or html (one file, plots in it)", false, 0},
    {"output", "FILE", "where to write; default: standard output", false, 'o'},
    {0},
};

static const mrd__option help_options[] = {
    {"man", NULL, "the manual page, as roff", false, 0},
    {0},
};

/* name, operands, summary, details, operands from..to, opens, stores, options, run */
const mrd__command mrd__commands[] = {
    {"open", "FILE...", "open the page on these files",
     "Serves the files as one trace and starts a browser on the page; ends with Ctrl+C.", 1, -1,
     true, true, open_options, mrd__cmd_open},
    {"serve", "", "the workbench over a data folder",
     "Prints one line `listening on http://ADDRESS:PORT`; ends with Ctrl+C. Files below the data\n"
     "folder may be opened from the page.",
     0, 0, true, true, serve_options, mrd__cmd_serve},
    {"info", "FILE...", "what is in it, what was lost",
     "Formats, bounds, counts by table, losses with advice. Several files are one trace.", 1, -1,
     true, false, NULL, mrd__cmd_info},
    {"dump", "FILE...", "plain rows of one table",
     "Times are absolute nanoseconds of the trace. Rows by time, then file order.", 1, -1, true,
     false, dump_options, mrd__cmd_dump},
    {"clocks", "FILE...", "how the files came onto one timeline",
     "The clocks of each file, the path of each to trace time, what was assumed, how far off it\n"
     "may be and how fast clocks drift.",
     1, -1, true, false, NULL, mrd__cmd_clocks},
    {"window", "FILE...", "what lies in a window of time",
     "An event trace is asked for its records; any other trace, or --tracks, for slices, instants\n"
     "and counters. Times are absolute nanoseconds. With --verbose the open intervals, anomalies\n"
     "and bounds of an event trace go to standard error.",
     1, -1, true, false, window_options, mrd__cmd_window},
    {"query", "FILE... [SQL]", "ask in SQL",
     "One SELECT or EXPLAIN over the tables of docs/sql.md, which have the names and columns of\n"
     "Perfetto's. Without a statement: from standard input, each ended by a semicolon at the end\n"
     "of a line; on a terminal a prompt with history and completion of names.",
     1, -1, true, false, query_options, mrd__cmd_query},
    {"convert", "FILE... OUT", "write a trace, or a part of it, in another form",
     "By the ending of OUT: .json (Chrome), .pftrace (Perfetto), .parquet or .arrow (the slices),\n"
     "/ (a folder with a Parquet file a table).\n"
     "All of them open again. Slices that cross an edge of the range are kept whole and marked.",
     2, -1, true, false, convert_options, mrd__cmd_convert},
    {"diff", "A B", "what got slower, faster, appeared, vanished",
     "Slices are matched by the names of their lanes and their own; totals, counts and medians of\n"
     "both traces. --json gives all rows.",
     2, 2, true, false, diff_options, mrd__cmd_diff},
    {"gen event-trace", "[OUT.parquet]", "write a deterministic event trace", NULL, 0, 1, false,
     false, gen_options, mrd__cmd_gen_event_trace},
    {"gen chrome-json", "[OUT.json]", "write a deterministic Chrome trace", NULL, 0, 1, false,
     false, gen_options, mrd__cmd_gen_chrome_json},
    {"sim run", "SPEC.json", "simulate one collective: how long, and why",
     "The spec is described in docs/sim.md. The result, and with --trace or trace.enabled its\n"
     "events, are stored where --data or --store is written out. SPEC.json may be - (standard\n"
     "input).",
     1, 1, false, true, sim_run_options, mrd__cmd_sim_run},
    {"sim sweep", "SPEC.json", "simulate all runs of a spec whose fields are lists",
     "Results come in order, with --json one object a line. Nothing runs where one spec is bad.\n"
     "--slurm writes a job array below the data folder and submits it: one task a run, up to "
     "1,000\n"
     "tasks. They write to the store, which all nodes must reach, and leave out what is there:\n"
     "submit again to try again what failed.",
     1, 1, false, true, sim_sweep_options, mrd__cmd_sim_sweep},
    {"results add", "FILE.parquet", "take in an event trace, print its id",
     "The file is copied into the data folder. What the options do not give stays empty.", 1, 1,
     false, true, results_add_options, mrd__cmd_results_add},
    {"results list", "", "results by page", NULL, 0, 0, false, true, results_list_options,
     mrd__cmd_results_list},
    {"results show", "ID", "one result", NULL, 1, 1, false, true, NULL, mrd__cmd_results_show},
    {"results rm", "[ID...]", "remove results with their traces", NULL, 0, -1, false, true,
     results_rm_options, mrd__cmd_results_rm},
    {"results compare", "ID ID...", "rows side by side, with ratios to the first", NULL, 2, -1,
     false, true, NULL, mrd__cmd_results_compare},
    {"record", "[-- CMD...]", "record metrics of a process, the machine or a device",
     "Readings, their source and their trouble go into a sealed session folder, whose name is\n"
     "printed at the end (docs/sessions.md). Ends with the target, after --duration, or with\n"
     "Ctrl+C; the session is finished then, too.",
     0, -1, false, false, record_options, mrd__cmd_record},
    {"session ingest", "INPUT", "a file of lines as a session",
     "Envelopes, or what an adapter printed, one JSON object a line; - is standard input. Host\n"
     "times are those of the lines.",
     1, 1, false, false, session_ingest_options, mrd__cmd_session_ingest},
    {"session list", "[FOLDER]", "the sessions in a folder, the newest first",
     "Default: DATA/sessions, where recordings without --out go.", 0, 1, false, false,
     session_list_options, mrd__cmd_session_list},
    {"session samples", "DIR", "the samples of a session, in order",
     "Columns seq, metric, value, unit, quality, source, key, time_ns; an absent value is empty "
     "or\n"
     "null, never 0.",
     1, 1, false, false, session_samples_options, mrd__cmd_session_samples},
    {"session raw", "DIR SEQ", "the bytes that a sample rests on",
     "SEQ is the seq of a sample or gap. Prints the event's bytes as received; with --json the\n"
     "envelope, too.",
     2, 2, false, false, NULL, mrd__cmd_session_raw},
    {"session recover", "DIR", "seal what a crash left as DIR.open",
     "Takes the longest valid prefix and seals it as incomplete(crash). Nothing recorded is\n"
     "changed; damage elsewhere is corruption: told, not repaired.",
     1, 1, false, false, NULL, mrd__cmd_session_recover},
    {"replay", "DIR", "recompute a session from raw and compare every byte",
     "Exit code 1 where events, samples or report differ; says the first difference.", 1, 1, false,
     false, NULL, mrd__cmd_replay},
    {"verify", "DIR", "check hashes, frames, sequence and seal of a session",
     "Exit code 1 where a byte is not as it was; says the first bad range.", 1, 1, false, false,
     NULL, mrd__cmd_verify},
    {"report", "DIR", "the report of a session",
     "Statistics of each metric with coverage and the share of time in each quality.", 1, 1, false,
     false, report_options, mrd__cmd_report},
    {"cache list", "", "which traces open warm",
     "Sealed traces that are kept in $XDG_CACHE_HOME/meridian (or ~/.cache/meridian), last used\n"
     "first. `open` and `serve` keep what takes long to read; 16 GiB at most, the longest unused "
     "go.",
     0, 0, false, false, NULL, mrd__cmd_cache_list},
    {"cache add", "FILE...", "keep a trace, so that it opens warm",
     "The files together, as they are named here, are one trace.", 1, -1, true, false, NULL,
     mrd__cmd_cache_add},
    {"cache clear", "", "remove all of them", NULL, 0, 0, false, false, NULL, mrd__cmd_cache_clear},
    {"completion", "bash|zsh", "shell completion",
     "bash: source <(meridian completion bash)   zsh: meridian completion zsh > _meridian", 1, 1,
     false, false, NULL, mrd__cmd_completion},
    {"help", "[COMMAND]", "help on a command", NULL, 0, 2, false, false, help_options,
     mrd__cmd_help},
    {0},
};
