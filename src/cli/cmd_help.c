#include "cli/cli.h"

#include <string.h>

int mrd__cmd_help(const mrd__cli *cli)
{
    mrd__buf out = {0};
    if (mrd__cli_has(cli, "man")) {
        mrd__help_man(&out);
        return mrd__cli_print(&out);
    }
    if (cli->operands.count == 0) {
        mrd__help_overview(&out);
        return mrd__cli_print(&out);
    }
    char *words[] = {"", (char *)cli->operands.data[0],
                     cli->operands.count > 1 ? (char *)cli->operands.data[1] : NULL};
    int used = 0;
    const mrd__command *command = mrd__cli_find((int)cli->operands.count + 1, words, &used);
    if (command != NULL && (size_t)used == cli->operands.count) {
        mrd__help_command(&out, command);
    } else if (cli->operands.count > 1 || !mrd__help_group(&out, words[1])) {
        mrd__buf_reset(&out);
        return mrd__cli_usage(cli, "\"%s%s%s\" is not a command", words[1],
                              words[2] != NULL ? " " : "", words[2] != NULL ? words[2] : "");
    }
    return mrd__cli_print(&out);
}
