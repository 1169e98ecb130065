// SPDX-License-Identifier: MIT
/*
 * Making a running Python execute a small script, without its cooperation.
 *
 *     struct cunei_injection injection = {0};
 *     rc = cunei_injection_check(&target, &error);    writes nothing
 *     rc = cunei_injection_begin(&injection, &target, script, &error);
 *     while ((rc = cunei_injection_has_run(&injection, &error)) == 0 && …)
 *         … wait a moment: poll every few milliseconds …
 *     outcome = cunei_injection_end(&injection, &error);
 *
 * The script is executed by any Python thread, between two bytecodes, with an empty
 * dictionary of its own as globals and "<cunei>" as its file name.  It must be short:
 * the thread waits for it, and signal handlers of the program may run inside it.  No
 * script runs in a forked child, and none runs after cunei_injection_end has returned
 * CUNEI_INJECTION_WITHDRAWN.
 *
 * cunei_injection_end is always called, also after a failure of the others.  Should the
 * request not be withdrawn, because a debugger has stopped the process for example, the
 * file stays: CPython prints a message if it is gone.
 */
#ifndef CUNEI_ATTACH_INJECTION_H
#define CUNEI_ATTACH_INJECTION_H

#include <stddef.h>
#include <stdint.h>

#include "attach/error.h"
#include "attach/script_file.h"
#include "attach/target.h"

#define CUNEI_INJECTION_THREADS 64 /* that are asked at once, on 3.14 and newer */

/* Reasons that both ways have. */
struct cunei_injection_way;

struct cunei_injection_thread {
    uint64_t address; /* of its state */
    uint64_t number;  /* that the process knows it by */
};

struct cunei_injection {
    uint64_t stopped_ns; /* so long was the program stopped, all in all */
    /* Private. */
    const struct cunei_target *target; /* borrowed; NULL: nothing began */
    const struct cunei_injection_way *way;
    struct cunei_script_file file;
    uint64_t interpreter;
    struct cunei_injection_thread threads[CUNEI_INJECTION_THREADS]; /* with a request */
    size_t thread_count;
    /* Of these, numbers of those that have taken it and may not have read it yet. */
    uint64_t readers[CUNEI_INJECTION_THREADS];
    size_t reader_count;
    uint64_t text; /* what a pending call executes is here */
};

enum cunei_injection_outcome {
    CUNEI_INJECTION_WITHDRAWN, /* it did not run, and will not */
    CUNEI_INJECTION_RUNNING,   /* it has begun and not ended */
    CUNEI_INJECTION_FAILED,    /* it raised an exception, which `error` holds */
    CUNEI_INJECTION_RAN,
};

/* One of the ways, each in a file of its own. */
struct cunei_injection_way {
    const char *name;
    unsigned first_minor, last_minor; /* of CPython 3 */
    /* Whether it can, looking only. */
    int (*check)(const struct cunei_target *target, struct cunei_attach_error *error);
    int (*request)(struct cunei_injection *injection, struct cunei_attach_error *error);
    /* Repeat what may have got lost; NULL: nothing may. */
    void (*remind)(struct cunei_injection *injection);
    /* Take the request back, and list in `readers` the threads that have taken it
     * before and print a message if they find no file.  A negative errno: it could not
     * be. */
    int (*withdraw)(struct cunei_injection *injection);
};

extern const struct cunei_injection_way cunei_injection_remote_debugging;
extern const struct cunei_injection_way cunei_injection_pending_call;

/* The way for this version of Python; NULL: there is none. */
const struct cunei_injection_way *cunei_injection_way_of(
    const struct cunei_target *target);

/*
 * Say why one of the ways came back with `rc`: `why`, or what is the same for all of
 * them where that is NULL.  Returns `rc`.
 */
int cunei_injection_fail(const struct cunei_target *target, int rc, const char *why,
                         struct cunei_attach_error *error);

/* Whether a script can be executed in the process; otherwise why not. */
int cunei_injection_check(struct cunei_target *target,
                          struct cunei_attach_error *error);

/* Check, write the script where the process can read it, and ask for it. */
int cunei_injection_begin(struct cunei_injection *injection,
                          struct cunei_target *target, const char *script,
                          struct cunei_attach_error *error);

/*
 * 1: the script has ended; 0: not yet; -ECANCELED: it raised an exception, which
 * `error` holds; -ESRCH: the process has ended.
 */
int cunei_injection_has_run(struct cunei_injection *injection,
                            struct cunei_attach_error *error);

/* Withdraw the request if it was not taken, and remove the file. */
enum cunei_injection_outcome cunei_injection_end(struct cunei_injection *injection,
                                                 struct cunei_attach_error *error);

#endif
