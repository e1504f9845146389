#include "cli/cli.h"

int main(int argc, char **argv)
{
    return mrd__cli_main(argc, argv);
}
