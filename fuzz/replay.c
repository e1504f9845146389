// Runs one fuzz target over kept inputs without libFuzzer: the corpus as an ordinary test.
// Arguments are files and folders; each input prints a line `PASS name` once it came back.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Reads the whole file into memory the caller frees; null when it cannot be read.
static uint8_t *read_whole(const char *path, size_t *size_out)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        return NULL;
    }
    size_t size = 0, cap = 4096;
    uint8_t *data = malloc(cap);
    while (data) {
        size += fread(data + size, 1, cap - size, in);
        if (size < cap) {
            break;
        }
        uint8_t *more = realloc(data, cap *= 2);
        if (!more) {
            free(data);
        }
        data = more;
    }
    fclose(in);
    *size_out = size;
    return data;
}

// The last two parts of the path: target and input.
static const char *name_of(const char *path)
{
    const char *name = path;
    for (const char *at = path, *last = NULL; (at = strchr(at, '/')); at++) {
        name = last ? last + 1 : path;
        last = at;
    }
    return name;
}

static int replay_file(const char *path)
{
    const char *name = name_of(path);
    size_t size = 0;
    uint8_t *data = read_whole(path, &size);
    if (!data) {
        printf("FAIL fuzz/%s: cannot read %s\n", name, path);
        return 1;
    }
    // A block of exactly the input's size, so that a read past its end is seen by the sanitizer.
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact) {
        free(data);
        printf("FAIL fuzz/%s: out of memory\n", name);
        return 1;
    }
    memcpy(exact, data, size);
    free(data);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    printf("PASS fuzz/%s\n", name);
    fflush(stdout);
    return 0;
}

static int replay_folder(const char *path)
{
    struct dirent **list = NULL;
    int count = scandir(path, &list, NULL, alphasort);
    int failed = count < 0;
    if (failed) {
        printf("FAIL fuzz: cannot list %s\n", path);
    }
    for (int i = 0; i < count; i++) {
        char full[4096];
        if (list[i]->d_name[0] != '.') {
            snprintf(full, sizeof full, "%s/%s", path, list[i]->d_name);
            failed |= replay_file(full);
        }
        free(list[i]);
    }
    free(list);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct stat st;
        int is_folder = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode);
        failed |= is_folder ? replay_folder(argv[i]) : replay_file(argv[i]);
    }
    return failed;
}
