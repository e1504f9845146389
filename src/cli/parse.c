#include "cli/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- Commands ---- */

const mrd__command *mrd__cli_find(int argc, char **argv, int *words)
{
    for (const mrd__command *command = mrd__commands; command->name != NULL; command++) {
        const char *space = strchr(command->name, ' ');
        size_t first = space != NULL ? (size_t)(space - command->name) : strlen(command->name);
        if (argc < 2 || strlen(argv[1]) != first || strncmp(argv[1], command->name, first) != 0)
            continue;
        if (space != NULL && (argc < 3 || strcmp(argv[2], space + 1) != 0)) continue;
        *words = space != NULL ? 2 : 1;
        return command;
    }
    return NULL;
}

static int print_version(void)
{
    mrd__buf out = {0};
    mrd__buf_printf(&out, "meridian %s\n", mrd_version());
    return mrd__cli_print(&out);
}

/* No command of that name: help, version, or a group without its second word. */
static int run_without_command(int argc, char **argv)
{
    mrd__buf out = {0};
    const char *first = argc > 1 ? argv[1] : NULL;
    if (first != NULL && strcmp(first, "--version") == 0) return print_version();
    if (first != NULL && (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)) {
        mrd__help_overview(&out);
        return mrd__cli_print(&out);
    }
    if (first == NULL) {
        mrd__cli_say("a command is missing; see meridian --help");
    } else if (!mrd__help_group(&out, first)) {
        mrd__cli_say("\"%s\" is not a command; see meridian --help", first);
    } else if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
        return mrd__cli_print(&out);
    } else if (argc > 2) {
        mrd__cli_say("\"%s %s\" is not a command; see meridian %s --help", first, argv[2], first);
    } else {
        mrd__cli_say("%s needs a second word; see meridian %s --help", first, first);
    }
    mrd__buf_reset(&out);
    return MRD__EXIT_USAGE;
}

int mrd__cli_main(int argc, char **argv)
{
    /* A reader that goes away is a failed write, not a death in the middle of one. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    int words = 0;
    mrd__cli cli = {.command = mrd__cli_find(argc, argv, &words)};
    if (cli.command == NULL) return run_without_command(argc, argv);
    int code = MRD__EXIT_USAGE;
    if (mrd__cli_parse(&cli, argc - 1 - words, argv + 1 + words)) {
        if (mrd__cli_has(&cli, "help")) {
            mrd__buf out = {0};
            mrd__help_command(&out, cli.command);
            code = mrd__cli_print(&out);
        } else {
            code = cli.command->run(&cli);
        }
    }
    mrd__cli_reset(&cli);
    return code;
}

void mrd__cli_reset(mrd__cli *cli)
{
    mrd__vec_reset(&cli->operands);
    mrd__vec_reset(&cli->given);
}

/* ---- Options ---- */

void mrd__cli_each_option(const mrd__command *command,
                          void (*each)(void *ctx, const mrd__option *option), void *ctx)
{
    const mrd__option *const lists[] = {
        command->options,
        command->opens ? mrd__open_options : NULL,
        command->stores ? mrd__store_options : NULL,
        mrd__common_options,
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (const mrd__option *option = lists[i]; option != NULL && option->name != NULL; option++)
            each(ctx, option);
    }
}

typedef struct lookup {
    mrd__str name; /* long form, or empty */
    char letter;
    const mrd__option *found;
} lookup;

static void match_option(void *ctx, const mrd__option *option)
{
    lookup *look = ctx;
    bool matches = look->letter != '\0' ? option->letter == look->letter
                                        : mrd__str_is(look->name, option->name);
    if (matches && look->found == NULL) look->found = option;
}

static bool add_given(mrd__cli *cli, const mrd__option *option, const char *value)
{
    if (!option->repeats && option->value != NULL && mrd__cli_value(cli, option->name) != NULL) {
        mrd__cli_usage(cli, "--%s is given twice", option->name);
        return false;
    }
    mrd__given given = {option, value};
    mrd__vec_push(&cli->given, given);
    return true;
}

/* Whether text has the ending of "[FILE.ending]". */
static bool ends_as(const char *text, const char *value)
{
    const char *dot = strchr(value, '.');
    size_t size = strlen(dot) - 1, length = strlen(text); /* without ] */
    return text[0] != '-' && length > size && strncmp(text + length - size, dot, size) == 0;
}

/* One option at argv[0]; returns the arguments taken, 0 when wrong. */
static int parse_option(mrd__cli *cli, int argc, char **argv)
{
    const char *text = argv[0];
    bool is_long = text[1] == '-';
    const char *equals = is_long ? strchr(text, '=') : NULL;
    lookup look = {0};
    if (is_long)
        look.name =
            (mrd__str){text + 2, equals != NULL ? (size_t)(equals - text - 2) : strlen(text + 2)};
    else
        look.letter = text[2] == '\0' ? text[1] : '\x01';
    mrd__cli_each_option(cli->command, match_option, &look);
    if (look.found == NULL) {
        mrd__cli_usage(cli, "unknown option %s", text);
        return 0;
    }
    if (look.found->value == NULL) {
        if (equals != NULL) {
            mrd__cli_usage(cli, "--%s takes no value", look.found->name);
            return 0;
        }
        return add_given(cli, look.found, "") ? 1 : 0;
    }
    if (equals != NULL) return add_given(cli, look.found, equals + 1) ? 1 : 0;
    if (look.found->value[0] == '[') {
        bool is_value = argc > 1 && ends_as(argv[1], look.found->value);
        if (!add_given(cli, look.found, is_value ? argv[1] : "")) return 0;
        return is_value ? 2 : 1;
    }
    if (argc < 2) {
        mrd__cli_usage(cli, "%s needs a value: %s", text, look.found->value);
        return 0;
    }
    return add_given(cli, look.found, argv[1]) ? 2 : 0;
}

bool mrd__cli_parse(mrd__cli *cli, int argc, char **argv)
{
    bool options = true;
    for (int i = 0; i < argc;) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
            i++;
        } else if (options && argv[i][0] == '-' && argv[i][1] != '\0') {
            int taken = parse_option(cli, argc - i, argv + i);
            if (taken == 0) return false;
            i += taken;
        } else {
            mrd__vec_push(&cli->operands, argv[i++]);
        }
    }
    if (mrd__cli_has(cli, "help")) return true;
    int count = (int)cli->operands.count;
    const mrd__command *command = cli->command;
    if (count < command->operand_min) {
        mrd__cli_usage(cli, "%s needs %s", command->name, command->operands);
        return false;
    }
    if (command->operand_max >= 0 && count > command->operand_max) {
        mrd__cli_usage(cli, "unexpected \"%s\"", cli->operands.data[command->operand_max]);
        return false;
    }
    return true;
}

/* ---- Values ---- */

const char *mrd__cli_value(const mrd__cli *cli, const char *name)
{
    for (size_t i = cli->given.count; i-- > 0;) {
        if (strcmp(cli->given.data[i].option->name, name) == 0) return cli->given.data[i].value;
    }
    return NULL;
}

bool mrd__cli_has(const mrd__cli *cli, const char *name)
{
    return mrd__cli_value(cli, name) != NULL;
}

bool mrd__cli_uint(const mrd__cli *cli, const char *name, uint64_t low, uint64_t high,
                   uint64_t *out)
{
    const char *text = mrd__cli_value(cli, name);
    if (text == NULL) return true;
    uint64_t value;
    if (!mrd__parse_uint64(mrd__str_of(text), &value) || value < low || value > high) {
        mrd__cli_usage(cli, "--%s: \"%s\", allowed is a whole number from %llu to %llu", name, text,
                       (unsigned long long)low, (unsigned long long)high);
        return false;
    }
    *out = value;
    return true;
}

int mrd__cli_choice(const mrd__cli *cli, const char *name, const char *words, int fallback)
{
    const char *text = mrd__cli_value(cli, name);
    if (text == NULL) return fallback;
    int index = 0;
    for (const char *at = words;; index++) {
        size_t length = strcspn(at, "|");
        if (strlen(text) == length && strncmp(at, text, length) == 0) return index;
        at += length;
        if (*at == '\0') break;
        at++;
    }
    mrd__cli_usage(cli, "--%s: \"%s\", allowed is %s", name, text, words);
    return -1;
}

void mrd__cli_data_dir(const mrd__cli *cli, mrd__buf *out)
{
    const char *given = mrd__cli_value(cli, "data");
    const char *share = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    if (given != NULL)
        mrd__buf_text(out, given);
    else if (share != NULL && share[0] == '/') /* the base directory rules: else it is ignored */
        mrd__buf_printf(out, "%s/meridian", share);
    else
        mrd__buf_printf(out, "%s/.local/share/meridian", home != NULL ? home : "");
}
