#include "cli/cli.h"

#include <string.h>

static const char intro[] = "Every trace on one timeline, and every number defended.\n"
                            "\n"
                            "usage: meridian COMMAND [OPTION...] [OPERAND...]\n"
                            "\n"
                            "commands:\n";
static const char exits[] = "exit codes: 0 done, 1 failed, 2 wrong use, 3 done with losses under "
                            "--strict\n";

void mrd__help_overview(mrd__buf *out)
{
    mrd__buf_text(out, intro);
    for (const mrd__command *command = mrd__commands; command->name != NULL; command++)
        mrd__buf_printf(out, "  %-16s %-14s %s\n", command->name, command->operands,
                        command->summary);
    mrd__buf_text(out, "\noptions: --help with any command, --version\n");
    mrd__buf_text(out, exits);
}

static void option_line(void *ctx, const mrd__option *option)
{
    mrd__buf *out = ctx;
    mrd__buf left = {0};
    if (option->letter != '\0')
        mrd__buf_printf(&left, "-%c, ", option->letter);
    else
        mrd__buf_text(&left, "    ");
    mrd__buf_printf(&left, "--%s", option->name);
    if (option->value != NULL) mrd__buf_printf(&left, " %s", option->value);
    if (option->help == NULL) {
        mrd__buf_printf(out, "  %s\n", left.data);
    } else {
        mrd__buf_printf(out, "  %-30s ", left.data);
        for (const char *at = option->help; *at != '\0'; at++) {
            mrd__buf_char(out, *at);
            if (*at == '\n') mrd__buf_printf(out, "%33s", ""); /* below the line above */
        }
        mrd__buf_char(out, '\n');
    }
    mrd__buf_reset(&left);
}

void mrd__help_command(mrd__buf *out, const mrd__command *command)
{
    mrd__buf_printf(out, "usage: meridian %s [OPTION...]%s%s\n\n", command->name,
                    command->operands[0] != '\0' ? " " : "", command->operands);
    mrd__buf_printf(out, "%s\n", command->summary);
    if (command->details != NULL) mrd__buf_printf(out, "%s\n", command->details);
    mrd__buf_text(out, "\noptions:\n");
    mrd__cli_each_option(command, option_line, out);
    mrd__buf_printf(out, "\n%s", exits);
}

bool mrd__help_group(mrd__buf *out, const char *word)
{
    bool any = false;
    size_t length = strlen(word);
    for (const mrd__command *command = mrd__commands; command->name != NULL; command++) {
        if (strncmp(command->name, word, length) != 0 || command->name[length] != ' ') continue;
        if (!any) mrd__buf_printf(out, "usage: meridian %s COMMAND\n\ncommands:\n", word);
        any = true;
        mrd__buf_printf(out, "  %-16s %-14s %s\n", command->name, command->operands,
                        command->summary);
    }
    return any;
}

/* ---- Manual page ---- */

/* Text as roff: dashes and backslashes are literal, no line starts with a control character. */
static void roff(mrd__buf *out, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        bool line_start = at == text || at[-1] == '\n';
        if (line_start && (*at == '.' || *at == '\'')) mrd__buf_text(out, "\\&");
        if (*at == '\\')
            mrd__buf_text(out, "\\e");
        else if (*at == '-')
            mrd__buf_text(out, "\\-");
        else
            mrd__buf_char(out, *at);
    }
}

static void option_roff(void *ctx, const mrd__option *option)
{
    mrd__buf *out = ctx;
    mrd__buf_text(out, ".TP\n.B ");
    if (option->letter != '\0') mrd__buf_printf(out, "\\-%c\\fR, \\fB", option->letter);
    mrd__buf_text(out, "\\-\\-");
    roff(out, option->name);
    if (option->value != NULL) {
        mrd__buf_text(out, " \\fI");
        roff(out, option->value);
        mrd__buf_text(out, "\\fR");
    }
    mrd__buf_char(out, '\n');
    roff(out, option->help != NULL ? option->help : "the column of this name");
    mrd__buf_char(out, '\n');
}

void mrd__help_man(mrd__buf *out)
{
    mrd__buf_printf(out, ".TH MERIDIAN 1 \"\" \"meridian %s\" \"User Commands\"\n", mrd_version());
    mrd__buf_text(out, ".SH NAME\nmeridian \\- every trace on one timeline\n"
                       ".SH SYNOPSIS\n.B meridian\n.I COMMAND\n[\\fIOPTION\\fR...] "
                       "[\\fIOPERAND\\fR...]\n.SH COMMANDS\n");
    for (const mrd__command *command = mrd__commands; command->name != NULL; command++) {
        mrd__buf_text(out, ".SS meridian ");
        roff(out, command->name);
        mrd__buf_text(out, " [OPTION...] ");
        roff(out, command->operands);
        mrd__buf_char(out, '\n');
        roff(out, command->summary);
        mrd__buf_text(out, ".\n");
        if (command->details != NULL) {
            roff(out, command->details);
            mrd__buf_char(out, '\n');
        }
        mrd__cli_each_option(command, option_roff, out);
    }
    mrd__buf_text(out, ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong use, 3 done with losses under "
                       "\\-\\-strict.\n.SH ENVIRONMENT\n.TP\n.B XDG_DATA_HOME\n"
                       "Where the data folder \\fImeridian\\fR is by default; unset: "
                       "~/.local/share.\n");
}
