// SPDX-License-Identifier: MIT
#include "python/shebang.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "python/interpreter_args.h"

enum {
    HEAD_SIZE = 1024, /* bytes of the file that are looked at */
    WORDS_MAX = 8
};

/* Split in place at blanks; returns how many words there are. */
static int split(char *line, char **words)
{
    char *state = NULL;
    int count = 0;

    for (char *word = strtok_r(line, " \t", &state); word && count < WORDS_MAX;
         word = strtok_r(NULL, " \t", &state))
        words[count++] = word;
    return count;
}

/* Leave out `env`, its -S and its assignments: what is left is the interpreter. */
static int skip_env(char **words, int count)
{
    const char *slash = strrchr(words[0], '/');
    int first = 0;

    if (strcmp(slash ? slash + 1 : words[0], "env") != 0)
        return 0;
    for (first = 1; first < count; first++) {
        if (strcmp(words[first], "-S") != 0 && !strchr(words[first], '='))
            break;
    }
    return first;
}

static void read_words(struct cunei_shebang *shebang, char *line)
{
    char *words[WORDS_MAX];

    int count = split(line, words);
    int first = count ? skip_env(words, count) : 0;
    if (first >= count || !cunei_python_is_named(words[first]))
        return;
    struct cunei_interpreter_args read =
        cunei_interpreter_args_parse(count - first, words + first);
    memcpy(shebang->flags, read.flags, sizeof(read.flags));
    shebang->no_site = read.no_site;
    shebang->python = strdup(words[first]);
}

struct cunei_shebang cunei_shebang_read(const char *path)
{
    static const char long_way[] = "'''exec' "; /* pip's, where the path is too long */
    struct cunei_shebang shebang = {0};
    char head[HEAD_SIZE + 1];

    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return shebang;
    ssize_t size = read(fd, head, HEAD_SIZE);
    close(fd);
    if (size < 2 || memcmp(head, "#!", 2) != 0)
        return shebang;
    head[size] = '\0';
    shebang.exists = true;
    char *line = head + 2;
    char *second = strchr(line, '\n');
    if (second)
        *second++ = '\0';
    if (second && strncmp(second, long_way, sizeof(long_way) - 1) == 0) {
        line = second + sizeof(long_way) - 1;
        line[strcspn(line, "\n")] = '\0';
        /* The rest of that line is the shell's: "$0" and "$@". */
        char *rest = strstr(line, " \"$0\"");
        if (rest)
            *rest = '\0';
        if (*line == '"') {
            line++;
            line[strcspn(line, "\"")] = '\0';
        }
    }
    read_words(&shebang, line);
    return shebang;
}
