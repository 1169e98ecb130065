// SPDX-License-Identifier: MIT
#include "cmd/record/interpreter.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/common/search_path.h"
#include "cmd/record/interpreter_cache.h"
#include "python/refusal_reason.h"
#include "wire/record_env.h"

extern char **environ;

/*
 * The program that the Python runs.  Any Python since 2.6 can parse it.  The last part
 * names the files that the answers depend on, for the cache.  CUNEI_RECORD
 * is set to a value that records nothing, so that cunei.pth is tried.  It ends with
 * _exit, so that no exit handler of other tools runs.
 */
static const char question[] =
    "import sys, os\n"
    "f = []\n"
    "def say(k, v):\n"
    "    f.append(k + ' ' + str(v).replace('\\n', ' '))\n"
    "i = getattr(sys, 'implementation', None)\n"
    "say('implementation', i.name if i else 'python')\n"
    "say('version', '%d.%d.%d' % sys.version_info[:3])\n"
    "say('executable', sys.executable or '')\n"
    "say('stdlib', os.path.dirname(getattr(os, '__file__', '')))\n"
    "if sys.version_info >= (3, 8):\n"
    "    g = getattr(sys, '_is_gil_enabled', None)\n"
    "    say('gil', 'no' if g and not g() else 'yes')\n"
    "    m = getattr(sys, 'monitoring', None)\n"
    "    if m: say('tools', ' '.join(str(t) for t in range(6) if m.get_tool(t)))\n"
    "    b = sys.modules.get('cunei._boot')\n"
    "    say('boot', 'yes' if b and b.outcome is not None else 'no')\n"
    "    try:\n"
    "        import cunei\n"
    "        say('package', os.path.dirname(cunei.__file__))\n"
    "        say('cunei', cunei.__version__)\n"
    "        import cunei._probe\n"
    "        say('obstacles', cunei._probe.check())\n"
    "    except Exception as e:\n"
    "        if not (isinstance(e, ModuleNotFoundError) and e.name == 'cunei'):\n"
    "            say('error', '%s: %s' % (type(e).__name__, e))\n"
    "    try:\n"
    "        say('running', os.readlink('/proc/self/exe'))\n"
    "        s = sys.modules.get('site')\n"
    "        b = os.path.dirname(sys.executable)\n"
    "        p = [sys.executable, b + '/pyvenv.cfg', b + '/../pyvenv.cfg']\n"
    "        p += [getattr(m, '__file__', 0) for m in list(sys.modules.values())]\n"
    "        with open('/proc/self/maps') as m:\n"
    "            p += [w[5][:-1] for w in (l.split(None, 5) for l in m)\n"
    "                  if len(w) > 5 and w[5][0] == '/']\n"
    "        d = sys.path + [s.getusersitepackages()] + s.getsitepackages()\n"
    "        p += d + [os.path.join(f, n) for f in d if os.path.isdir(f)\n"
    "                  for n in os.listdir(f) if n.endswith('.pth')]\n"
    "        p = [x for x in p if isinstance(x, str) and x[:1] not in ('', '<')]\n"
    "        for x in sorted(set(p)): say('file', os.path.abspath(x))\n"
    "        if '\\n' not in ''.join(p): say('files', 'all')\n"
    "    except Exception:\n"
    "        pass\n"
    "a = ('\\n'.join(f) + '\\n')\n"
    "e = getattr(os, 'fsencode', str)\n"
    "os.write(1, e(a))\n"
    "os._exit(0)\n";

char *cunei_interpreter_beside_us(void)
{
    static const char *const names[] = {"python3", "python"};
    char self[PATH_MAX];

    ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (size <= 0)
        return NULL;
    self[size] = '\0';
    const char *slash = strrchr(self, '/');
    if (!slash)
        return NULL;
    char *broken = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = NULL;
        if (asprintf(&path, "%.*s/%s", (int)(slash - self), self, names[i]) < 0)
            return NULL;
        if (cunei_search_path_is_executable(path)) {
            free(broken);
            return path;
        }
        /* Another Python would surprise the user: report that this one does not run. */
        if (!broken && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            broken = path;
        else
            free(path);
    }
    return broken;
}

/* The environment of the question: ours, armed, and nothing that waits for a user. */
static char **question_environment(void)
{
    size_t count = 0, kept = 0;

    while (environ[count])
        count++;
    char **list = calloc(count + 2, sizeof(*list));
    if (!list)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], CUNEI_RECORD_ENV_VARIABLE "=",
                    sizeof(CUNEI_RECORD_ENV_VARIABLE)) != 0 &&
            strncmp(environ[i], "PYTHONINSPECT=", 14) != 0 &&
            strncmp(environ[i], "CUNEI_DEBUG=", 12) != 0)
            list[kept++] = environ[i];
    }
    static char armed[] = CUNEI_RECORD_ENV_VARIABLE "=?";
    list[kept] = armed;
    return list;
}

static int spawn(const struct cunei_interpreter_question *asked, int output, int errors,
                 pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    const char *flags = asked->flags;
    char *words[5] = {0};
    int rc = 0;

    const char *list[] = {asked->path, *flags ? flags : "-c", *flags ? "-c" : question,
                          *flags ? question : NULL};
    memcpy(words, list, sizeof(list));
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (errors < 0)
        (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    else
        (void)posix_spawn_file_actions_adddup2(&actions, errors, 2);
    rc = -posix_spawn(pid, asked->path, &actions, NULL, words, asked->environment);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static void read_answer(int fd, struct cunei_buffer *answer)
{
    char part[4096];

    for (;;) {
        ssize_t size = read(fd, part, sizeof(part));
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0 || answer->size > 1 << 20)
            return;
        cunei_buffer_append(answer, part, (size_t)size);
    }
}

#define FIELD(name)                                     \
    {                                                   \
#name, offsetof(struct cunei_interpreter, name) \
    }
static const struct {
    const char *name;
    size_t offset;
} fields[] = {
    FIELD(implementation), FIELD(version),   FIELD(executable), FIELD(gil),
    FIELD(tools),          FIELD(cunei),     FIELD(package),    FIELD(boot),
    FIELD(error),          FIELD(obstacles), FIELD(stdlib),
};
#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

static char **field_at(struct cunei_interpreter *python, size_t index)
{
    return (char **)((char *)python + fields[index].offset);
}

static int take_answer(struct cunei_interpreter *python, char *text)
{
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        char *value = strchr(line, ' ');
        if (value)
            *value++ = '\0';
        for (size_t i = 0; value && i < FIELD_COUNT; i++) {
            char **slot = field_at(python, i);
            if (strcmp(fields[i].name, line) == 0 && !*slot)
                *slot = strdup(value);
        }
        line = end ? end + 1 : NULL;
    }
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        char **slot = field_at(python, i);
        if (!*slot && !(*slot = strdup("")))
            return -ENOMEM;
    }
    char *dot = NULL;
    python->major = (int)strtol(python->version, &dot, 10);
    if (!*python->version || *dot != '.')
        return -EPROTO;
    python->minor = (int)strtol(dot + 1, &dot, 10);
    python->patch = *dot == '.' ? (int)strtol(dot + 1, NULL, 10) : 0;
    return 0;
}

/* The first line of its error output. */
static void take_complaint(struct cunei_interpreter *python, int errors)
{
    char text[200] = "";

    ssize_t size = pread(errors, text, sizeof(text) - 1, 0);
    size_t line = size > 0 ? strcspn(text, "\n") : 0;
    char *complaint = line ? strndup(text, line) : NULL;
    if (!complaint)
        return;
    free(python->error);
    python->error = complaint;
}

/* Run the Python; its answer is appended to `answer`, its complaints to `errors`. */
static int run_python(const struct cunei_interpreter_question *asked, int errors,
                      struct cunei_buffer *answer)
{
    int ends[2] = {-1, -1};
    pid_t pid = 0;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    /* Beyond the three that the Python gets, which may be closed here. */
    int output = fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(ends[1]);
    int rc = output < 0 ? -errno : spawn(asked, output, errors, &pid);
    if (output >= 0)
        close(output);
    if (rc == 0) {
        read_answer(ends[0], answer);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        if (answer->failed)
            rc = -ENOMEM;
    }
    close(ends[0]);
    return rc;
}

static int open_errors(void)
{
    int file = memfd_create("cunei", MFD_CLOEXEC);
    int errors = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

    if (file >= 0)
        close(file);
    return errors;
}

/* A Python without any problem; others are asked each time. */
static bool is_worth_keeping(const struct cunei_interpreter *python)
{
    struct cunei_buffer reason = {0};

    bool can_record =
        cunei_interpreter_can_record(python, CUNEI_INSTRUMENTER_NONE, &reason);
    cunei_buffer_fini(&reason);
    return can_record && !*python->obstacles;
}

static int ask(struct cunei_interpreter *python,
               const struct cunei_interpreter_question *asked)
{
    struct cunei_buffer answer = {0};
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    int errors = open_errors();
    int rc = run_python(asked, errors, &answer);
    char *kept = rc == 0 && answer.data ? strdup(answer.data) : NULL;
    if (rc == 0) {
        python->path = strdup(asked->path);
        rc = python->path
                 ? take_answer(python, answer.data ? answer.data : (char[]){""})
                 : -ENOMEM;
        if (rc == -EPROTO && errors >= 0)
            take_complaint(python, errors);
    }
    if (rc == 0 && kept && is_worth_keeping(python))
        cunei_interpreter_cache_write(asked, kept, &now);
    if (errors >= 0)
        close(errors);
    free(kept);
    cunei_buffer_fini(&answer);
    return rc;
}

/* Take the remembered answer; whether there is one. */
static bool recall(struct cunei_interpreter *python,
                   const struct cunei_interpreter_question *asked)
{
    char *answer = cunei_interpreter_cache_read(asked);

    if (!answer)
        return false;
    python->path = strdup(asked->path);
    bool is_good =
        python->path && take_answer(python, answer) == 0 && is_worth_keeping(python);
    if (!is_good)
        cunei_interpreter_fini(python);
    free(answer);
    return is_good;
}

int cunei_interpreter_ask(struct cunei_interpreter *python, const char *path,
                          const char *flags, bool again)
{
    char **environment = question_environment();
    if (!environment)
        return -ENOMEM;
    const struct cunei_interpreter_question asked = {
        .path = path, .flags = flags, .program = question, .environment = environment};
    int rc = !again && recall(python, &asked) ? 0 : ask(python, &asked);
    free(environment);
    return rc;
}

int cunei_interpreter_obstacle(const struct cunei_interpreter *python,
                               enum cunei_instrumenter instrumenter)
{
    const char *name = cunei_instrumenter_name(
        instrumenter ? instrumenter : cunei_instrumenter_default(python->minor));
    size_t size = strlen(name);

    for (const char *at = python->obstacles; *at; at += strspn(at, " ")) {
        if (strncmp(at, name, size) == 0 && at[size] == ' ')
            return (int)strtol(at + size, NULL, 10);
        at += strcspn(at, " ");
    }
    return 0;
}

/* Append why another tool is in the way, if one is. */
static void format_obstacle(const struct cunei_interpreter *python,
                            enum cunei_instrumenter instrumenter,
                            struct cunei_buffer *reason)
{
    int obstacle = cunei_interpreter_obstacle(python, instrumenter);

    if (!obstacle)
        return;
    cunei_buffer_format(reason, "'%s' cannot be recorded", python->path);
    if (instrumenter)
        cunei_buffer_format(reason, " with --instrumenter %s",
                            cunei_instrumenter_name(instrumenter));
    cunei_buffer_append_text(reason, ": ");
    cunei_refusal_reason_format(obstacle, reason);
}

bool cunei_interpreter_can_record(const struct cunei_interpreter *python,
                                  enum cunei_instrumenter instrumenter,
                                  struct cunei_buffer *reason)
{
    bool old = python->major < CUNEI_INTERPRETER_MAJOR ||
               (python->major == CUNEI_INTERPRETER_MAJOR &&
                python->minor < CUNEI_INTERPRETER_MINOR);

    if (old)
        cunei_buffer_format(
            reason,
            "'%s' is Python %s, but cunei needs CPython %d.%d or newer; "
            "choose one with --python",
            python->path, python->version, CUNEI_INTERPRETER_MAJOR,
            CUNEI_INTERPRETER_MINOR);
    else if (strcmp(python->implementation, "cpython") != 0)
        cunei_buffer_format(
            reason, "'%s' is %s, but cunei needs CPython; choose one with --python",
            python->path, python->implementation);
    else if (!*python->package && !*python->error)
        cunei_buffer_format(reason,
                            "cunei is not installed in '%s' (CPython %s); run '%s -m "
                            "pip install cunei', or choose another Python with "
                            "--python",
                            python->path, python->version, python->path);
    else if (*python->cunei && strcmp(python->cunei, CUNEI_VERSION) != 0)
        cunei_buffer_format(reason,
                            "'%s' has cunei %s, but this is cunei %s; run '%s -m pip "
                            "install cunei==%s'",
                            python->path, python->cunei, CUNEI_VERSION, python->path,
                            CUNEI_VERSION);
    else if (*python->error)
        cunei_buffer_format(reason,
                            "'%s' cannot import cunei (%s); install it there again",
                            python->path, python->error);
    else if (strcmp(python->boot, "yes") != 0)
        cunei_buffer_format(reason,
                            "'%s' finds cunei in '%s', but not 'cunei.pth', which "
                            "starts the recording; install cunei there with pip, and "
                            "not as editable",
                            python->path, python->package);
    else
        format_obstacle(python, instrumenter, reason);
    return !reason->size;
}

void cunei_interpreter_fini(struct cunei_interpreter *python)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        free(*field_at(python, i));
    free(python->path);
    *python = (struct cunei_interpreter){0};
}
