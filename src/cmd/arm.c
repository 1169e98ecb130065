// SPDX-License-Identifier: MIT
/* `cunei arm`: run a program that `cunei attach` can record at any time. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buffer.h"
#include "cmd/cmd.h"
#include "cmd/common/options.h"
#include "cmd/record/program.h"
#include "cmd/record/record_options.h"
#include "cmd/record/recorded_run.h"
#include "wire/record_env.h"

struct values {
    const char *python;
};

static const struct cunei_option options[] = {
    {.name = "python",
     .kind = CUNEI_OPTION_TEXT,
     .value = "PYTHON",
     .help = "the Python that runs the program: a name or a path",
     .offset = offsetof(struct values, python)},
    {0},
};

/* This process becomes the program; returns only if that fails. */
static int become(const struct cunei_program *program)
{
    const struct cunei_record_env env = {.arm = true};
    struct cunei_buffer text = {0};

    cunei_record_env_format(&env, &text);
    int rc = text.failed ? -ENOMEM : 0;
    if (rc == 0 && setenv(CUNEI_RECORD_ENV_VARIABLE, text.data, 1) < 0)
        rc = -errno;
    cunei_buffer_fini(&text);
    if (rc == 0) {
        (void)execv(program->path, program->words);
        rc = -errno;
    }
    return cunei_cmd_fail(rc, "cannot run '%s'", program->path);
}

static int run_arm(int argc, char **argv)
{
    struct values values = {0};
    struct cunei_record_options recording = CUNEI_RECORD_OPTIONS_DEFAULTS;
    struct cunei_recorded_run run = {.options = &recording};

    int status = cunei_options_parse(&cunei_cmd_arm, &argc, argv, &values);
    if (status != CUNEI_OPTIONS_CONTINUE)
        return status;
    if (argc < 2)
        return cunei_cmd_usage("missing program: cunei arm app.py");
    recording.python = values.python;
    status = cunei_recorded_run_prepare(&run, argc - 1, argv + 1);
    if (status == EXIT_SUCCESS)
        status = become(&run.program);
    cunei_recorded_run_fini(&run);
    return status;
}

const struct cunei_cmd cunei_cmd_arm = {
    .name = "arm",
    .args = "PROGRAM …",
    .summary = "run a program that 'cunei attach' can record",
    .help =
        "Runs PROGRAM unchanged, and ready for 'cunei attach PID': so are the Pythons\n"
        "that it starts. Until then nothing is recorded, and no time is lost: two threads\n"
        "sleep. It works with every CPython from 3.8 on, where no process may look into\n"
        "another, and in containers.\n"
        "\n"
        "  cunei arm app.py --port 8000\n"
        "  cunei arm gunicorn -w 4 shop:app\n"
        "  CUNEI_RECORD='v=1 arm=1' python app.py    the same without the command",
    .options = options,
    .takes_program = true,
    .run = run_arm,
};
