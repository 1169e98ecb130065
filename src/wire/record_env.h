// SPDX-License-Identifier: MIT
/*
 * The environment variable that arms a Python: where and how to record.
 *
 * The launcher formats it, the probe in every descendant parses it.  It is either an
 * absolute path (record there, everything by default) or words `key=value`, separated
 * by spaces, values quoted by cunei_text_quote:
 *
 *     v=1 dir=/tmp/a%20trace freq=2794750000 max=1073741824 startup=1 exclude=re:^_
 *     only=4711 ccalls=1 args=app:* return=app:load maxrepr=200 repr=1
 *     device=65025 inode=1316 lines=app:solve instrumenter=profile budget=50000
 *     socket=81 secret=1729 keep=268435456 keepns=30000000000 keepmemory=1
 *     project=/home/ann/shop arm=1 attached=1
 *
 * `dir` may be missing with `arm`: the process then only takes requests.  An unknown
 * key, another version or a folder that is not an absolute path is -EINVAL.
 */
#ifndef CUNEI_WIRE_RECORD_ENV_H
#define CUNEI_WIRE_RECORD_ENV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pattern.h"
#include "base/safe_open.h"
#include "python/instrumenter.h"
#include "wire/keep.h"

#define CUNEI_RECORD_ENV_VARIABLE "CUNEI_RECORD"

/* A budget, in millionths of the run time: 0.1 % to all of it. */
#define CUNEI_RECORD_ENV_BUDGET_LEAST 1000u
#define CUNEI_RECORD_ENV_BUDGET_LIMIT 1000000u

#define CUNEI_RECORD_ENV_MAX_REPR       120u
#define CUNEI_RECORD_ENV_MAX_REPR_LEAST 8u
#define CUNEI_RECORD_ENV_MAX_REPR_LIMIT 4096u /* more does not fit in an event */

struct cunei_buffer;

/* How a process reaches the launcher that it is below, see rt/refusal.h. */
struct cunei_launcher {
    uint64_t socket; /* the number in its name */
    uint64_t secret; /* of a message; 0: there is no launcher */
};

struct cunei_record_env {
    char *directory; /* owned: the trace directory, absolute; or NULL */
    char *project;   /* owned: the folder of the program's project */
    struct cunei_file_id directory_id; /* all 0: not known */
    uint64_t frequency;                /* ticks per second; 0: not measured yet */
    uint64_t max_bytes;                /* of the whole recording; 0: no limit */
    struct cunei_keep keep;
    bool startup;      /* record from the probe's start, not from __main__ */
    bool arm;          /* take requests of controllers (probe/armed) */
    bool attached;     /* a controller has started it, in a program that ran already */
    uint64_t budget;   /* what recording may cost, in millionths; 0: no limit */
    uint64_t only_pid; /* the one process to record; 0: all that inherit it */
    struct cunei_launcher launcher;
    bool c_calls;      /* also calls of C functions */
    bool full_repr;    /* values by their own repr, which is the program's code */
    uint64_t max_repr; /* bytes of a value's text; 0: CUNEI_RECORD_ENV_MAX_REPR */
    enum cunei_instrumenter instrumenter; /* which hook of CPython */
    struct cunei_patterns patterns;
    struct cunei_patterns arguments; /* functions whose arguments are recorded */
    struct cunei_patterns results;   /* functions whose results are */
    struct cunei_patterns lines;     /* functions whose lines are */
};

/* Parse a budget such as "5%" or "0.5"; -EINVAL: not a number, or out of range. */
int cunei_budget_parse(const char *text, uint64_t *millionths);

void cunei_record_env_format(const struct cunei_record_env *session,
                             struct cunei_buffer *out);
int cunei_record_env_parse(struct cunei_record_env *session, const char *text);
void cunei_record_env_fini(struct cunei_record_env *session);

#endif
