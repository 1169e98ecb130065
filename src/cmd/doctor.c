// SPDX-License-Identifier: MIT
/* `cunei doctor`: what this machine and this Python support. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "cmd/cmd.h"
#include "cmd/options.h"

static int run_doctor(int argc, char **argv)
{
    struct utsname name;

    int status = cunei_options_parse(&cunei_cmd_doctor, &argc, argv, NULL);
    if (status != CUNEI_OPTIONS_GO_ON)
        return status;
    if (uname(&name) == 0)
        printf("kernel   %s %s\n", name.sysname, name.release);
    return EXIT_SUCCESS;
}

const struct cunei_cmd cunei_cmd_doctor = {
    .name = "doctor",
    .args = "[options]",
    .summary = "say what this machine and this Python support",
    .run = run_doctor,
};
