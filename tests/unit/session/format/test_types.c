/* What must not compile: a difference of two clocks' times, a number without its quality. Each
 * snippet that must fail has a like one beside it that must not, so that it fails for its reason.
 * And what must not run: a value made or read with a number and another quality than ok. */
#include "session/format/record.h"
#include "session/format/sample.h"
#include "unit.h"

#include "base/os.h"

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- What compiles ---- */

/* The exit of the compiler over one function body; 127: there is no compiler. */
static int compile(const char *body)
{
    char path[] = "/tmp/meridian-types-XXXXXX.c";
    int fd = mkstemps(path, 2);
    assert_true(fd >= 0);
    mrd__buf text = {0};
    mrd__buf_printf(&text,
                    "#include \"session/format/sample.h\"\n"
                    "void f(mrd__host_ns h, mrd__source_ns s, mrd__device_ticks d,\n"
                    "       mrd__timeline_ns t, mrd__timebase b, mrd__measured m, double *out);\n"
                    "void f(mrd__host_ns h, mrd__source_ns s, mrd__device_ticks d,\n"
                    "       mrd__timeline_ns t, mrd__timebase b, mrd__measured m, double *out)\n"
                    "{\n (void)h, (void)s, (void)d, (void)t, (void)b, (void)m, (void)out;\n"
                    "%s\n}\n",
                    body);
    assert_int_equal(write(fd, text.data, text.size), (ssize_t)text.size);
    close(fd);
    mrd__buf_reset(&text);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execlp("cc", "cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-S", "-o",
               "/dev/null", "-I" MRD_SOURCE_DIR "/src", "-I" MRD_SOURCE_DIR "/include", path,
               (char *)NULL);
        _exit(127);
    }
    int state = 0;
    assert_int_equal(waitpid(child, &state, 0), child);
    unlink(path);
    assert_true(WIFEXITED(state));
    return WEXITSTATUS(state);
}

static void accept(const char *body)
{
    if (compile(body) != 0) fail_msg("does not compile: %s", body);
}

static void refuse(const char *body)
{
    if (compile(body) != 1) fail_msg("compiles: %s", body);
}

static void test_clocks_do_not_mix(void **state)
{
    (void)state;
    if (compile("") == 127) skip();
    static const char names[] = "hsdt";
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 4; k++) {
            char body[64];
            snprintf(body, sizeof body, "(void)mrd__elapsed(%c, %c);", names[i], names[k]);
            if (i == k)
                accept(body);
            else
                refuse(body);
        }
        char body[64];
        snprintf(body, sizeof body, "(void)(%c - %c);", names[i], names[i]);
        refuse(body);
        snprintf(body, sizeof body, "(void)mrd__elapsed(%c, 5);", names[i]);
        refuse(body);
    }
}

static void test_ticks_are_no_time(void **state)
{
    (void)state;
    if (compile("") == 127) skip();
    accept("mrd__span_ns x = mrd__span_of_ticks(mrd__elapsed(d, d), b); (void)x;");
    refuse("mrd__span_ns x = mrd__elapsed(d, d); (void)x;");
    refuse("mrd__span_ns x = mrd__span_of_ticks(d, b); (void)x;");
    refuse("mrd__span_ns x = mrd__span_of_ticks(mrd__elapsed(h, h), b); (void)x;");
    refuse("mrd__host_ns x = mrd__span_of_ticks(mrd__elapsed(d, d), b); (void)x;");
    refuse("h = s;");
    refuse("t = h;");
    accept("h = h;");
}

static void test_numbers_have_quality(void **state)
{
    (void)state;
    if (compile("") == 127) skip();
    accept("if (!mrd__measured_get(m, out)) *out = -1;");
    refuse("mrd__measured_get(m, out);"); /* the answer must be looked at */
    refuse("*out = m;");
    refuse("*out = (double)m;");
    refuse("if (m > 0) *out = 1;");
    refuse("m = 5.0;");
    accept("m = mrd__measured_real(5.0, 1);");
    refuse("m = mrd__measured_real(5.0);");
    refuse("m = mrd__measured_none(MRD__QUALITY_MISSING, 5.0);");
    accept("m = mrd__measured_none(MRD__QUALITY_MISSING);");
}

/* ---- Who touches the number ---- */

static size_t looked_at;

static int look(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)at;
    static const char own[] = "/src/session/format/sample.";
    size_t size = strlen(path);
    if (type != FTW_F || size < 2 || (path[size - 1] != 'c' && path[size - 1] != 'h')) return 0;
    mrd__buf text = {0};
    mrd_error error = {0};
    assert_int_equal(mrd__file_read(&text, path, 1 << 24, &error), MRD_OK);
    looked_at++;
    bool allowed = strstr(path, own) != NULL;
    if (!allowed && (strstr(text.data, "number_.") || strstr(text.data, "number_ =")))
        fail_msg("%s touches the number of a mrd__measured itself", path);
    if (!allowed && strstr(text.data, "(mrd__measured){"))
        fail_msg("%s makes a mrd__measured without the functions for it", path);
    mrd__buf_reset(&text);
    return 0;
}

static void test_only_one_place(void **state)
{
    (void)state;
    assert_int_equal(nftw(MRD_SOURCE_DIR "/src", look, 16, FTW_PHYS), 0);
    assert_true(looked_at > 100);
}

/* ---- What runs ---- */

static void aborts(void (*what)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        dup2(null, STDOUT_FILENO);
        signal(SIGABRT, SIG_DFL);
        what();
        _exit(0);
    }
    int state = 0;
    assert_int_equal(waitpid(child, &state, 0), child);
    assert_true(WIFSIGNALED(state) || WEXITSTATUS(state) != 0);
}

static void ok_without_number(void)
{
    (void)mrd__measured_none(MRD__QUALITY_OK);
}

static void not_finite(void)
{
    (void)mrd__measured_real(NAN, 1);
}

static void no_such_quality(void)
{
    (void)mrd__measured_none(MRD__QUALITIES);
}

static void test_made(void **state)
{
    (void)state;
    aborts(ok_without_number);
    aborts(not_finite);
    aborts(no_such_quality);
    for (int quality = MRD__QUALITY_OK + 1; quality < MRD__QUALITIES; quality++) {
        mrd__measured value = mrd__measured_none((mrd__quality)quality);
        double real = 7;
        int64_t integer = 7;
        mrd__buf json = {0};
        assert_false(mrd__measured_get(value, &real));
        assert_false(mrd__measured_get_integer(value, &integer));
        assert_true(real == 7 && integer == 7);
        mrd__measured_json(&json, value);
        assert_string_equal(json.data, "null");
        mrd__buf_reset(&json);
    }
}

/* A stored sample of every quality and form: read only where number and ok go together. */
static void test_read(void **state)
{
    (void)state;
    mrd__series series = {.metric = MRD__STR("m"),
                          .unit = MRD__STR("u"),
                          .source = MRD__STR("s"),
                          .numer = 1,
                          .denom = 1};
    for (unsigned quality = 0; quality < 256; quality++) {
        for (unsigned form = 0; form < 256; form++) {
            mrd__metrics_reader reader = {0};
            mrd__buf bytes = {0};
            mrd_error error = {0};
            mrd__series_encode(&bytes, &series);
            assert_int_equal(mrd__metrics_read(&reader, MRD__METRICS_SERIES, 1,
                                               (mrd__str){bytes.data, bytes.size}, &error),
                             MRD_OK);
            mrd__buf_clear(&bytes);
            mrd__measured value = quality == MRD__QUALITY_OK
                                      ? mrd__measured_integer(0, 1)
                                      : mrd__measured_none(MRD__QUALITY_MISSING);
            mrd__sample sample = {.series = &series, .value = value};
            mrd__sample_encode(&bytes, &sample);
            bytes.data[4] = (char)quality;
            bytes.data[5] = (char)form;
            mrd_status status = mrd__metrics_read(&reader, MRD__METRICS_SAMPLE, 1,
                                                  (mrd__str){bytes.data, bytes.size}, &error);
            bool right = quality < MRD__QUALITIES && form <= MRD__NUMBER_REAL &&
                         (quality == MRD__QUALITY_OK) == (form != MRD__NUMBER_NONE);
            if ((status == MRD_OK) != right)
                fail_msg("quality %u, form %u: status %d", quality, form, status);
            mrd__buf_reset(&bytes);
            mrd__metrics_reader_reset(&reader);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks_do_not_mix),
        cmocka_unit_test(test_ticks_are_no_time),
        cmocka_unit_test(test_numbers_have_quality),
        cmocka_unit_test(test_only_one_place),
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
