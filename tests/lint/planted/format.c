// check: format
// expect: code should be clang-formatted
int mrd__planted(int value);

int mrd__planted(int value)
{
    return value;
}
int   mrd__planted_too ; // planted
