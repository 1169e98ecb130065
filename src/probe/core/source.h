// SPDX-License-Identifier: MIT
/*
 * A source of events: the CPython hook that calls us when functions begin and end.
 * There are sys.monitoring (sources/monitoring), a frame evaluator (sources/evaluator,
 * before 3.12), the hooks of sys.setprofile and sys.settrace (sources/hooks), and one
 * that records no calls (sources/none.h).  sources/source_table.h lists them.  A
 * recording chooses one when it begins, and calls
 *
 *     take        reserve what the source needs from the interpreter, or refuse
 *     await_main  notify us when __main__ begins (only where the launcher asks)
 *     prepare     get ready for what is recorded: this may fail
 *     record      switch the events on
 *     pause       switch them off, and keep what was taken
 *     release     switch them off, and give back what was taken
 */
#ifndef CUNEI_PROBE_CORE_SOURCE_H
#define CUNEI_PROBE_CORE_SOURCE_H

#include <Python.h>

#include <stdbool.h>

#include "python/instrumenter.h"
#include "wire/event.h"

struct cunei_source;

/* What a recording asks its source for. */
struct cunei_source_config {
    bool is_selective;   /* events are switched on for single functions, by `select` */
    bool has_patterns;   /* some functions may be left out */
    bool has_budget;     /* a budget switches the events of functions, by `set_level` */
    bool only_decorated; /* `select` names all functions: there are none to discover */
    bool c_calls;        /* record calls of C functions */
    bool lines;          /* record the lines of some functions */
};

/* Those from `pause_all` on may be NULL: then there is nothing to do. */
struct cunei_source_methods {
    /* 0, or -1 with an exception set, and `refusal` where the reason is known. */
    int (*take)(struct cunei_source *source, const struct cunei_source_config *config);
    int (*await_main)(struct cunei_source *source);
    int (*prepare)(struct cunei_source *source,
                   const struct cunei_source_config *config);
    int (*record)(struct cunei_source *source);

    /* Errors are ignored, and leave no exception. */
    void (*pause)(struct cunei_source *source);
    void (*release)(struct cunei_source *source);

    /* How many other tools use the same hook; -1 with an exception set. */
    int (*count_others)(struct cunei_source *source);

    /*
     * Pause, where events of single code objects stay set: their callbacks are removed
     * until `prepare`.  NULL: `pause` is enough.
     */
    void (*pause_all)(struct cunei_source *source);

    /* The process exits: do nothing from now on that audit hooks are notified of. */
    void (*process_exits)(struct cunei_source *source);

    /* The recording is about to end: report threads that the source has lost. */
    void (*record_losses)(struct cunei_source *source);

    /* Switch the events of a selected code object on; errors are ignored. */
    void (*select)(struct cunei_source *source, PyCodeObject *code);

    /*
     * An exception that is recorded propagates to a code object, which may not be
     * selected: switch the events of exceptions on for it.  NULL: they are on anyway.
     */
    void (*follow_exceptions)(struct cunei_source *source, PyCodeObject *code);

    /*
     * The program has decorated a function whose calls are recorded even if no others
     * are; errors are ignored.  NULL: it is found like any other.
     */
    void (*add_decorated)(struct cunei_source *source, PyCodeObject *code);

    /*
     * Have fewer of the events of a code object, or all of them again.  Where calls are
     * only counted, `counts_ends` asks for the events at their ends as well.
     */
    void (*set_level)(struct cunei_source *source, PyCodeObject *code,
                      enum cunei_level level, bool counts_ends);

    /* Switch the CALL events of a code object on, and off; errors are ignored. */
    void (*watch_calls)(struct cunei_source *source, PyCodeObject *code);
    void (*unwatch_calls)(struct cunei_source *source, PyCodeObject *code);

    /* The same for its lines. */
    void (*add_lines)(struct cunei_source *source, PyCodeObject *code);
    void (*remove_lines)(struct cunei_source *source, PyCodeObject *code);

    /*
     * Leave nothing behind on a code object, selected or not, so that another recording
     * discovers it.  Only while the events are off.
     */
    void (*forget)(struct cunei_source *source, PyCodeObject *code);

    /*
     * Undo sys.monitoring.DISABLE in a code object; in all code, where no other tool
     * would notice (else false).  Only while the events are off.
     */
    void (*enable)(struct cunei_source *source, PyCodeObject *code);
    bool (*enable_all)(struct cunei_source *source);
};

/* What a source needs from the module, as long as the module exists. */
struct cunei_source_setup {
    Py_ssize_t extra_index; /* of co_extra: see probe/core/code_extra.h */
    bool extra_inline;
    /* Called in the first frame of __main__: whether that call is to be recorded. */
    bool (*main_begins)(void);
    /* Of this Python's default instrumenter; NULL while that one is opened. */
    struct cunei_source *default_source;
};

/* The descriptor of a source. */
struct cunei_source_kind {
    enum cunei_instrumenter instrumenter; /* has its name, and what it gives */
    bool
        only_decorated; /* it records no function but those the program has decorated */
    const struct cunei_source_methods *methods;

    /* NULL with an exception set. */
    struct cunei_source *(*open)(PyObject *module,
                                 const struct cunei_source_setup *setup);
    /* For the garbage collector, and to free it; NULL: it has no Python objects. */
    int (*traverse)(struct cunei_source *source, visitproc visit, void *arg);
    void (*clear)(struct cunei_source *source);
    void (*free)(struct cunei_source *source);
};

/* A source has this as the first member of its own struct.  Only the source writes it.
 */
struct cunei_source {
    const struct cunei_source_kind *kind;       /* set by source_table.h */
    const struct cunei_source_methods *methods; /* of its kind */
    struct cunei_source_config config;          /* of the last `take` or `prepare` */
    bool is_taken;
    int refusal; /* why a method failed: see python/refusal_reason.h; or 0 */
};

#endif
