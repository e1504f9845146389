#include "cli/cli.h"

#include <string.h>

/* First words of the commands, each once, separated by spaces. */
static void first_words(mrd__buf *out)
{
    const char *before = "";
    for (const mrd__command *command = mrd__commands; command->name != NULL; command++) {
        size_t length = strcspn(command->name, " ");
        if (strlen(before) >= length && strncmp(before, command->name, length) == 0 &&
            strcspn(before, " ") == length)
            continue;
        if (before[0] != '\0') mrd__buf_char(out, ' ');
        mrd__buf_add(out, command->name, length);
        before = command->name;
    }
}

/* Second words of a group; appends nothing where the word is no group. */
static void second_words(mrd__buf *out, mrd__str first)
{
    for (const mrd__command *command = mrd__commands; command->name != NULL; command++) {
        if (strncmp(command->name, first.data, first.size) != 0 || command->name[first.size] != ' ')
            continue;
        mrd__buf_printf(out, " %s", command->name + first.size + 1);
    }
}

static void option_word(void *ctx, const mrd__option *option)
{
    mrd__buf_printf(ctx, " --%s", option->name);
}

static void group_cases(mrd__buf *out, const char *format)
{
    mrd__buf words = {0};
    mrd__buf seconds = {0};
    first_words(&words);
    for (const char *at = words.size > 0 ? words.data : ""; *at != '\0';) {
        size_t length = strcspn(at, " ");
        mrd__buf_clear(&seconds);
        second_words(&seconds, (mrd__str){at, length});
        if (seconds.size > 0) {
            mrd__buf_text(out, "    ");
            mrd__buf_add(out, at, length);
            mrd__buf_printf(out, ") %s%s\" ;;\n", format, seconds.data + 1);
        }
        at += length + (at[length] == ' ');
    }
    mrd__buf_reset(&words);
    mrd__buf_reset(&seconds);
}

static void option_cases(mrd__buf *out, const char *format)
{
    for (const mrd__command *command = mrd__commands; command->name != NULL; command++) {
        mrd__buf_printf(out, "    \"%s\"*) %s", command->name, format);
        mrd__buf words = {0};
        mrd__cli_each_option(command, option_word, &words);
        mrd__buf_printf(out, "%s\" ;;\n", words.data + 1);
        mrd__buf_reset(&words);
    }
}

void mrd__completion_bash(mrd__buf *out)
{
    mrd__buf_text(out, "_meridian() {\n"
                       "  local cur=${COMP_WORDS[COMP_CWORD]} words=\"\"\n"
                       "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
                       "    words=\"");
    first_words(out);
    mrd__buf_text(out, " --help --version\"\n"
                       "  elif [ \"$COMP_CWORD\" = 2 ] && [ \"${cur#-}\" = \"$cur\" ]; then\n"
                       "    case ${COMP_WORDS[1]} in\n");
    group_cases(out, "words=\"");
    mrd__buf_text(out, "    completion) words=\"bash zsh\" ;;\n"
                       "    esac\n"
                       "  elif [ \"${cur#-}\" != \"$cur\" ]; then\n"
                       "    case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n");
    option_cases(out, "words=\"");
    mrd__buf_text(out, "    esac\n"
                       "  fi\n"
                       "  COMPREPLY=()\n"
                       "  [ -z \"$words\" ] || COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                       "}\n"
                       "complete -o default -F _meridian meridian\n");
}

void mrd__completion_zsh(mrd__buf *out)
{
    mrd__buf_text(out, "#compdef meridian\n"
                       "_meridian() {\n"
                       "  local list=\"\"\n"
                       "  if (( CURRENT == 2 )); then\n"
                       "    list=\"");
    first_words(out);
    mrd__buf_text(out, " --help --version\"\n"
                       "  elif (( CURRENT == 3 )) && [[ ${words[CURRENT]} != -* ]]; then\n"
                       "    case ${words[2]} in\n");
    group_cases(out, "list=\"");
    mrd__buf_text(out, "    completion) list=\"bash zsh\" ;;\n"
                       "    esac\n"
                       "  elif [[ ${words[CURRENT]} == -* ]]; then\n"
                       "    case \"${words[2]} ${words[3]}\" in\n");
    option_cases(out, "list=\"");
    mrd__buf_text(out, "    esac\n"
                       "  fi\n"
                       "  if [[ -n $list ]]; then compadd -- ${=list}; else _files; fi\n"
                       "}\n"
                       "compdef _meridian meridian\n");
}
