/* Each text is about one thing; the losses it must give are beside it. */
#include "ingest/harness.h"

#include <string.h>

#include "base/os.h"

#define EV(more) "{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1" more "}"

/* clang-format off: it breaks the texts at places that mean nothing */
/* JSON in C text is read by its own lines. */
/* clang-format off */
const fixture fixtures[] = {
    {"empty array", "[]", 0, ""},
    {"empty object", "{\"traceEvents\":[]}", 0, ""},
    {"plain array", "[" EV("") "," EV("") "]\n", 0, ""},
    {"object form", " {\"a\":1, \"traceEvents\" : [ " EV("") " ] , \"b\":[1,{\"c\":null}]} ", 0,
     ""},
    {"no trace", "{\"a\":1}", 0, "error no_trace_events\n"},
    {"no json", "hello", 0, "error not_a_trace\n"},
    {"only space", "  \n", 0, "error not_a_trace\n"},
    {"byte order mark", "\xef\xbb\xbf[" EV("") "]", 0, "bom 1\n"},
    {"array without an end", "[" EV("") ",\n", 0, "truncated_input 1\n"},
    {"cut in an event", "[" EV("") ",{\"ph\":\"X\",\"na", 0, "truncated_input 1\n"},
    {"object cut", "{\"traceEvents\":[" EV("") ",{\"ph\":\"X\"", 0, "truncated_input 1\n"},
    {"object without its end", "{\"traceEvents\":[" EV("") "]", 0, "truncated_input 1\n"},
    {"cut in a late value", "{\"traceEvents\":[],\"x\":[1,2", 0, "truncated_input 1\n"},
    {"cut before the events", "{\"traceEvents\":", 0, "truncated_input 1\n"},
    {"cut in a late key", "{\"traceEvents\":[],\"x", 0, "truncated_input 1\n"},
    {"commas at will", "[,," EV("") EV("") ",\n,{}," EV("") ",]", 0, ""},
    {"trailing data", "[" EV("") "] x " EV(""), 0, "trailing_data 1\n"},
    {"elements that are no events", "[1,\"a\",[{\"ph\":\"X\"}],null," EV("") ",true]", 0,
     "bad_event 5\n"},
    {"no phase", "[{\"ts\":1},{\"ph\":1,\"ts\":2},{\"ph\":\"\",\"ts\":2}]", 0, "missing_phase 3\n"},
    {"phases not drawn", "[{\"ph\":\"O\"},{\"ph\":\"O\"},{\"ph\":\"\xc3\xa9\"},{\"ph\":\"Nx\"}]", 0,
     "unsupported_phase ? 1\nunsupported_phase N 1\nunsupported_phase O 2\n"},
    {"bad times",
     "[{\"ph\":\"X\",\"dur\":1},{\"ph\":\"X\",\"ts\":\"1x\",\"dur\":1},{\"ph\":\"X\","
     "\"ts\":1},"
     "{\"ph\":\"X\",\"ts\":1,\"dur\":\"\"},{\"ph\":\"i\",\"ts\":9223372036854775.808},"
     "{\"ph\":\"i\",\"ts\":9223372036854775.807},{\"ph\":\"X\",\"ts\":9223372036854775,"
     "\"dur\":1},"
     "{\"ph\":\"i\",\"ts\":null},{\"ph\":\"i\",\"ts\":true}]",
     0,
     "bad_timestamp 3\nmissing_timestamp 1\ntime_overflow 2\nbad_duration "
     "1\nmissing_duration 1\n"},
    {"numbers of every kind",
     "[{\"ph\":\"X\",\"ts\":\"1744440001234567.250\",\"dur\":\"2e1\",\"pid\":\"7\",\"tid\":"
     "-3},"
     "{\"ph\":\"X\",\"ts\":-0.0005,\"dur\":1E-3,\"pid\":18446744073709551615,\"tid\":1.0},"
     "{\"ph\":\"X\",\"ts\":1.23456789e3,\"dur\":.5,\"pid\":1}," EV("") "]",
     0, "syntax_error 1\n"},
    {"ids",
     "[{\"ph\":\"b\",\"ts\":1,\"name\":\"n\"},{\"ph\":\"b\",\"ts\":1,\"id\":7.0},"
     "{\"ph\":\"e\",\"ts\":2,\"id\":\"7\",\"scope\":\"s\"},"
     "{\"ph\":\"n\",\"ts\":2,\"id2\":{\"local\":\"0x1\"}},"
     "{\"ph\":\"b\",\"ts\":2,\"id2\":{\"global\":3},\"bind_id\":1,\"flow_in\":true},"
     "{\"ph\":\"s\",\"ts\":1},{\"ph\":\"f\",\"ts\":1,\"id\":2,\"bp\":\"e\"},"
     "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"bind_id\":5},"
     "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"bind_id\":\"0x5\",\"flow_out\":true}]",
     0, "async_missing_id 1\nflow_missing_id 1\nflow_without_direction 1\n"},
    {"old async and flows",
     "[{\"ph\":\"S\",\"ts\":1,\"id\":1},{\"ph\":\"T\",\"ts\":2,\"id\":1},{\"ph\":\"p\","
     "\"ts\":3,"
     "\"id\":1},{\"ph\":\"F\",\"ts\":4,\"id\":1},{\"ph\":\"t\",\"ts\":4,\"id\":1e2}]",
     0, ""},
    {"counters",
     "[{\"ph\":\"C\",\"ts\":1,\"name\":\"c\",\"args\":{\"a\":1,\"b\":\".75\",\"c\":\"246."
     "\","
     "\"d\":\"+10.5\",\"e\":\"1.5e\",\"f\":null,\"g\":[1],\"h\":nan}},"
     "{\"ph\":\"C\",\"ts\":1,\"name\":\"c\",\"id\":\"0x1\",\"args\":{\"a\":-1}},"
     "{\"ph\":\"C\",\"ts\":1,\"name\":\"c\"},{\"ph\":\"C\",\"ts\":1,\"name\":\"c\","
     "\"args\":{}},"
     "{\"ph\":\"C\",\"ts\":1,\"processName\":\"p\",\"args\":{\"a\":2}}]",
     0, "counter_missing_args 2\ncounter_bad_value 3\nnonstandard_number 1\n"},
    {"names and order",
     "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"p\"}},"
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":\"x\",\"args\":{\"name\":"
     "\"t\"}},"
     "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,\"args\":{\"sort_index\":\"-"
     "5\"}},"
     "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"args\":{\"sort_index\":2.0}}"
     ","
     "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,\"args\":{\"labels\":"
     "\"l\\u00e9\"}},"
     "{\"ph\":\"M\",\"name\":\"num_cpus\",\"pid\":1,\"args\":{\"number\":4}},"
     "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1},"
     "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,\"args\":{\"sort_index\":"
     "\"first\"}}]",
     0, "metadata_event_unusable 2\n"},
    {"instants",
     "[{\"ph\":\"i\",\"ts\":1,\"s\":\"g\"},{\"ph\":\"I\",\"ts\":1,\"s\":\"p\",\"pid\":1},"
     "{\"ph\":\"R\",\"ts\":1,\"s\":\"t\",\"pid\":1,\"tid\":2},{\"ph\":\"i\",\"ts\":1,\"s\":"
     "\"x\"}]",
     0, ""},
    {"args of any type",
     "[" EV(",\"args\":[1]") "," EV(",\"args\":\"t\\\"x\"") "," EV(",\"args\":null") "," EV(
         ",\"args\":{ }") "," EV(",\"args\":7") "," EV(",\"args\":\"\"") "]",
     0, ""},
    {"stack frames",
     "{\"stackFrames\":{\"1\":{\"name\":\"f\"}},\"traceEvents\":[" EV(",\"sf\":1") "," EV(
         ",\"stack"
         "\":["
         "\"a\","
         "\"b\"]") "," EV(",\"stack\":[],\"args\":{\"k\":1 }") "," EV(",\"stack\":[1],\"args\":"
                                                                      "{"
                                                                      "\"stack\":"
                                                                      "2}") "," EV(",\"stack\":"
                                                                                   "[1],"
                                                                                   "\"args\":"
                                                                                   "{ }") "]}",
     0, "stack_frames_ignored 6\n"},
    {"keys that stand twice",
     "{\"a\":1,\"a\":2,\"b\":{\"c\":1,\"c\":2},\"traceEvents\":[" EV(
         ",\"name\":\"b\",\"\\u0070id\":4,\"args\":{\"k\":1,\"k\":2,\"o\":{\"z\":1,\"z\":1}"
         "},\"u\":1,\"u\":2") "]}",
     0, "duplicate_key 7\n"},
    {"numbers that are none", "[" EV(",\"args\":{\"a\":NaN,\"b\":[-Infinity,inf,+nan]}") "]", 0,
     "nonstandard_number 4\n"},
    {"odd text",
     "[" EV(",\"cat\":\"a\001b\tc\",\"args\":{\"s\":\"\xff\xfe\",\"t\":\"\\ud800\",\"u\":\"\n\"}")
     "," EV(",\"cat\":\"\\ud83d\\ude00 \xe6\x97\xb6\"")
     "," EV(",\"cat\":\"\\u00e9\\/\\b\\q\"")
     "," EV(",\"cat\":\"\\udc00\xc3\"") "]",
     0, "raw_control_character 3\ninvalid_utf8 3\nlone_surrogate 2\n"},
    {"escaped keys", "[" EV(",\"c\\u0061t\":\"c\",\"args\":{\"\\\"\":\"\\\\\"}") "]", 0, ""},
    {"traps in text",
     "[" EV(",\"cat\":\"}],{\\\"ph\\\":\\\"X\\\"\"") "," EV(
         ",\"args\":{\"l\":[{\"ph\":\"X\",\"ts\":1,\"dur\":1},{\"ph\":\"B\"}],\"s\":"
         "\"\\\\\"}") "]",
     0, ""},
    {"word traceEvents elsewhere",
     "{\"n\":\"\\\"traceEvents\\\": [\",\"o\":{\"traceEvents\":[" EV("") "]},\"traceEvents\":[" EV(
         "") "],\"samples\":[" EV("") "],"
                                      "\"systemTraceEvents\":"
                                      "{\"x\":[" EV("") "]}}",
     0, ""},
    {"two arrays of events", "{\"traceEvents\":[" EV("") "],\"traceEvents\":[" EV("") "]}", 0,
     "duplicate_key 1\n"},
    {"events that are no array", "{\"traceEvents\":null,\"a\":1}", 0, "bad_event 1\n"},
    {"error in an event", "[" EV("") ",{\"ph\":\"X\",\"ts\":01}," EV("") "]", 0,
     "syntax_error 1\n"},
    {"quote missing",
     "[" EV("") ",{\"ph\":\"X\",\"name\":\"a,\"ts\":1,\"dur\":2,\"pid\":1}," EV("") "," EV("") "]",
     0, "syntax_error 1\n"},
    {"brace missing", "[" EV("") ",{\"ph\":\"X\",\"ts\":1,\n" EV("") "," EV("") "]", 0,
     "syntax_error 1\n"},
    {"error behind every event", "[{x}," EV("") ",{x}," EV("") ",{\"a\":{x}},{\"b\":1}]", 0,
     "syntax_error 3\n"},
    {"error to the end", "[" EV("") ",{\"ph\":tru},{\"no\":\"phase\"}]", 0, "syntax_error 1\n"},
    {"an array closes as an object", "[" EV(",\"args\":{\"a\":[1}}") "," EV("") "]", 0,
     "syntax_error 1\n"},
    {"values missing in args",
     "[" EV(",\"args\":{\"a\":}") "," EV(",\"args\":[1,]") "," EV(",\"args\":{\"a\":1,}") "," EV(
         "") "]",
     0, "syntax_error 3\n"},
    {"garbage between events", "[" EV("") "; " EV("") "," EV("") "]", 0, "syntax_error 1\n"},
    {"error before the events", "{\"a\":tru,\"traceEvents\":[" EV("") "]}", 0, "syntax_error 1\n"},
    {"the next event comes to light at the end", "{\"a\":tru,\"b\":[{\"q\":[" EV("") "," EV(""), 0,
     "truncated_input 1\nsyntax_error 1\n"},
    {"error behind the events", "{\"traceEvents\":[" EV("") "],\"a\":tru}", 0, "syntax_error 1\n"},
    {"a zero byte", "[" EV("") ",\0" EV("") "]", 2 * sizeof EV("") + 2, "syntax_error 1\n"},
    {"zero bytes behind a key", "[{\"ph\0\":\"X\",\"ts\":1}," EV("") "]", sizeof EV("") + 20,
     "missing_phase 1\nraw_control_character 1\n"},
    {"missing ids of places",
     "[{\"ph\":\"X\",\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"ts\":1,\"dur\":1,"
     "\"pid\":0},{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":\"p\"},{\"ph\":\"X\",\"ts\":1,"
     "\"dur\":1,"
     "\"tid\":0,\"pid\":5},{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"tid\":\"\",\"pid\":\"\"}]",
     0, ""},
    {NULL, NULL, 0, NULL},
};
/* clang-format on */
/* clang-format on */

mrd__str fixture_text(const fixture *of)
{
    return (mrd__str){of->text, of->size > 0 ? of->size : strlen(of->text)};
}

/* ---- Made traces ---- */

static void make_event(mrd__buf *out, mrd__rng *rng, uint64_t index)
{
    static const char phases[] = "XBXEXiXCXbenXSTpFsXtfMO";
    static const char *const names[] = {"run",
                                        "matmul kernel<float, 128>(int const*)",
                                        "\\u00e9t\\u00e9",
                                        "tab\\tand \\\"quote\\\"",
                                        "\xe6\x97\xb6\xe9\x97\xb4",
                                        "x}],[{"};
    static const char *const args[] = {
        "{}",
        "{\"a\":1}",
        "{\"used\":12.5,\"free\":\"3\"}",
        "{\"l\":[1,2,[3,{\"ph\":\"X\"}]],\"s\":\"}],{\\\"ph\\\":\\\"\"}",
        "{\"name\":\"n\",\"sort_index\":3}",
        "{ \"e\" : [ ] , \"o\" : { } }"};
    char phase = phases[mrd__rng_below(rng, sizeof phases - 1)];
    mrd__buf_printf(out, "{\"ph\":\"%c\",\"name\":\"%s\",\"ts\":%llu.%03u", phase,
                    names[mrd__rng_below(rng, 6)], (unsigned long long)(1000 + index),
                    (unsigned)mrd__rng_below(rng, 1000));
    if (phase == 'X') mrd__buf_printf(out, ",\"dur\":%u", (unsigned)mrd__rng_below(rng, 50));
    mrd__buf_printf(out, ", \"pid\":%u,\"tid\":\"%u\"", (unsigned)mrd__rng_below(rng, 3),
                    (unsigned)mrd__rng_below(rng, 5));
    if (mrd__rng_below(rng, 4) > 0) mrd__buf_printf(out, ",\"id\":%u", (unsigned)(index % 7));
    if (mrd__rng_below(rng, 2) > 0)
        mrd__buf_printf(out, ",\"args\":%s", args[mrd__rng_below(rng, 6)]);
    if (mrd__rng_below(rng, 8) == 0) mrd__buf_text(out, ",\"tts\":12,\"cname\":\"good\"");
    mrd__buf_char(out, '}');
}

void make_trace(mrd__buf *out, uint64_t seed, size_t events)
{
    mrd__rng rng = {seed};
    bool object = seed & 1;
    mrd__buf_text(out, object ? "{\"head\":{\"a\":[1,2]},\"traceEvents\":[" : "[");
    for (size_t i = 0; i < events; i++) {
        if (i > 0) mrd__buf_text(out, ",\n");
        make_event(out, &rng, i);
    }
    mrd__buf_text(out, object ? "],\"tail\":[{\"ph\":\"X\"}]}" : "]");
}
