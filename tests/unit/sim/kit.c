#include "kit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mrd_error last;

mrd__sim_spec spec_of(const char *format, ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    mrd__sim_spec spec;
    if (mrd__sim_spec_parse(&spec, text, strlen(text), &last) != MRD_OK)
        fail_msg("%s: %s", text, last.message);
    return spec;
}

const char *spec_error(const char *json)
{
    char text[4096];
    snprintf(text, sizeof text, "%s", json);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    mrd__sim_spec spec;
    memset(&last, 0, sizeof last);
    assert_int_equal(mrd__sim_spec_parse(&spec, text, strlen(text), &last), MRD_ERR_ARGUMENT);
    assert_string_equal(last.code, "bad_spec");
    assert_int_equal(spec.nodes.count + spec.disturb.count, 0);
    return last.message;
}

mrd__sim_result run(const mrd__sim_spec *spec)
{
    mrd__sim_result result;
    if (mrd__sim_run(spec, NULL, &result, &last) != MRD_OK)
        fail_msg("%s %s on %s: %s", mrd__sim_primitive_name(spec->primitive),
                 mrd__sim_algorithm_name(spec->algorithm), spec->topology, last.message);
    return result;
}

const char *run_error(const mrd__sim_spec *spec, const char *code)
{
    mrd__sim_result result;
    memset(&last, 0, sizeof last);
    assert_int_not_equal(mrd__sim_run(spec, NULL, &result, &last), MRD_OK);
    assert_string_equal(last.code, code);
    assert_null(result.stats.data);
    return last.message;
}

size_t all_pairs(pair *out)
{
    size_t count = 0;
    for (int64_t p = 0; p < MRD__SIM_PRIMITIVES; p++)
        for (int64_t a = 1; a < MRD__SIM_ALGORITHMS; a++)
            if (mrd__sim_pair_allowed(p, a)) out[count++] = (pair){p, a};
    return count;
}

double counter(const mrd__sim_result *result, const char *name)
{
    char key[160];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(result->stats.data, key);
    if (!at) fail_msg("no counter %s", name);
    return strtod(at + strlen(key), NULL);
}

void near_at(double got, double want, double tolerance, const char *file, int line)
{
    if (fabs(got - want) <= tolerance) return;
    print_error("%.9g, expected %.9g within %.3g\n", got, want, tolerance);
    _fail(file, line);
}
