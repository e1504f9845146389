/* meridian-replay: computes sessions again from raw, with the parts of the library alone that this
 * takes. tools/compilers.sh builds it with several compilers. usage: meridian-replay DIR... */
#include "session/replay.h"

#include <stdio.h>

static bool replay(const char *dir)
{
    char text[1024];
    mrd_error error = {0};
    mrd__replay_result result;
    if (mrd__session_replay(dir, NULL, &result, &error) != MRD_OK) {
        printf("%s\n", mrd_error_text(&error, text, sizeof text));
        return false;
    }
    if (result.equal)
        printf("%s: equal, %llu records, %llu samples\n", dir, (unsigned long long)result.records,
               (unsigned long long)result.samples);
    else
        printf("%s: %s differs at byte %llu\n", dir, result.file,
               (unsigned long long)result.offset);
    return result.equal;
}

int main(int argc, char **argv)
{
    bool equal = argc > 1;
    for (int i = 1; i < argc; i++)
        equal = replay(argv[i]) && equal;
    return equal ? 0 : 1;
}
