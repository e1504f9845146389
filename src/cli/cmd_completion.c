#include "cli/cli.h"

#include <string.h>

int mrd__cmd_completion(const mrd__cli *cli)
{
    const char *shell = cli->operands.data[0];
    mrd__buf out = {0};
    if (strcmp(shell, "bash") == 0)
        mrd__completion_bash(&out);
    else if (strcmp(shell, "zsh") == 0)
        mrd__completion_zsh(&out);
    else
        return mrd__cli_usage(cli, "\"%s\" is no shell of ours, allowed is bash or zsh", shell);
    return mrd__cli_print(&out);
}
