// check: clang-tidy
// expect: clang-analyzer-core.NullDereference
int mrd__planted(int value);

int mrd__planted(int value)
{
    int *place = &value;
    if (value > 3) place = 0; // planted
    return *place;
}
