// SPDX-License-Identifier: MIT
/*
 * Events to facts: what each function of a process cost, and what its threads did.
 *
 *     struct cunei_profile profile;
 *     cunei_profile_init(&profile, &options);
 *     struct cunei_span span = {0};
 *     for each packet of a stream, in order:
 *         cunei_profile_read(&profile, &span, packet, words, word_count);
 *     cunei_profile_seal(&profile, &span);
 *     …
 *     cunei_span_fini(&span);
 *     cunei_profile_fini(&profile);
 *
 * Facts are additive, so that a big stream can be read in pieces, each with a span of
 * its own and in any order, into one profile or into several that are added up:
 *
 *     cunei_profile_add(&profile, &other);
 *     cunei_profile_join(&profile, &left, &right);    (neighbours, from left to right)
 *
 * A span is what one piece must know of its neighbours: which frames it found open,
 * which of those it saw closed, which it leaves open.  Time that passes between two
 * pieces, and how long a frame that one opened and the other closed took, is added by
 * the join, which takes time in proportion to the depth of the stack.  However a stream
 * is cut, the facts come out the same.
 *
 * Nothing here does I/O or looks at a clock.  One thread at a time uses a profile.
 * Whatever words a packet holds, memory stays bounded.
 */
#ifndef CUNEI_MODEL_PROFILE_H
#define CUNEI_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "model/budget_estimates.h"
#include "model/exceptions.h"
#include "model/gc_pauses.h"
#include "model/histogram.h"
#include "model/recording_off.h"
#include "model/tasks.h"
#include "model/text_set.h"
#include "stack/stack_view.h"
#include "wire/event.h"
#include "wire/id_kind.h"
#include "wire/packet.h"

/* Of what a thread left open, this many innermost functions are kept. */
#define CUNEI_OPEN_MAX 64u
/* Of a thread's name, this many bytes. */
#define CUNEI_THREAD_NAME_MAX 127u
/* Functions that are regions. */
#define CUNEI_TAGS_MAX (1u << 16)

struct cunei_edges;
struct cunei_tree;

/*
 * A function's facts, in slot id - CUNEI_FUNCTION_FIRST + 1 of its profile; slot 0
 * takes what belongs to no function.  Times are in ticks where nothing else is said.
 * What every event touches shares a cache line.
 */
struct cunei_facts {
    uint64_t calls;
    uint64_t self;      /* on top of the stack, or below regions alone */
    uint64_t total;     /* anywhere in the stack, recursion counted once */
    uint64_t opened_at; /* private, as the next two: while a span is read */
    uint64_t max_ns;    /* of one activation: entry or resume to leave or yield */
    struct cunei_histogram histogram; /* of activations, in ns */
    uint32_t open;
    uint32_t edge;
    uint64_t resumes;
    uint64_t recursive; /* calls made while it was already open */
    uint64_t raised;    /* activations that an exception ended */
    uint64_t suspended; /* from a yield to the resumption, added over all of them */
    uint64_t yielded;   /* private, as the next two: while a span is read */
    uint32_t outstanding;
    uint32_t forgotten;
    uint64_t nested; /* resumes made while it was already open */
    uint64_t padding;
};

/* What a thread did. */
struct cunei_thread {
    uint32_t serial;
    uint32_t vtid;
    char name[CUNEI_THREAD_NAME_MAX + 1]; /* the one that was told last */
    bool ended;                           /* its last packet says so */
    uint64_t begin;                       /* of its first event */
    uint64_t end;                         /* of its last */
    uint64_t cpu_begin_ns;                /* its CPU clock in its first packet … */
    uint64_t cpu_end_ns; /* … and at the end of its last finished packet … */
    uint64_t cpu_end;    /* … which was then, in ticks; 0: none is finished */
    uint64_t events;
    uint64_t calls;
    uint64_t packets;
    struct cunei_gc_pauses collections;
    uint32_t *open; /* owned: functions open at its end, outermost first, … */
    uint32_t open_count;
    uint32_t open_depth; /* … the innermost CUNEI_OPEN_MAX of so many */
};

/* Private. */
struct cunei_frame {
    uint64_t entered; /* or resumed; see model/profile_stack.h */
    uint32_t slot;
    uint32_t run;   /* frames of the same function directly on top of each other */
    uint32_t node;  /* of the call tree */
    uint32_t edge;  /* of its caller and it */
    uint32_t owner; /* whose own time it is: for a region, of the function below it */
    uint32_t level; /* how many functions are open up to here */
};

/* Private: a stretch of an inherited frame ended. */
struct cunei_closing {
    uint64_t time;
    uint32_t position;
    uint32_t slot;
};

/* Private: how a frame ended. */
enum cunei_ending {
    CUNEI_ENDING_LEAVE,
    CUNEI_ENDING_RAISE,
    CUNEI_ENDING_YIELD,
    CUNEI_ENDING_UNSEEN,
};

/* Private: a step of a task, see model/task_steps.h. */
struct cunei_step {
    uint64_t task; /* its number */
    uint32_t position;
    uint32_t slot;
    uint64_t counted; /* up to here it is in the task's facts */
};

/* Private: a frame ended that might be that of a step which began earlier. */
struct cunei_end {
    uint64_t time;
    uint64_t covered; /* ticks in which one of the span's own steps ran by then */
    uint32_t position;
    uint32_t slot;
    enum cunei_ending ending;
};

/* Private. */
struct cunei_steps {
    struct cunei_step *items; /* owned: those that run, the innermost last */
    uint32_t count, capacity;
    uint64_t since; /* up to here the innermost one's run time is counted */
    uint64_t covered;
    uint64_t first_covered; /* when the first thread ended */
    struct cunei_end *ends; /* owned: of the first thread, in order of time */
    uint32_t end_count, end_capacity;
    struct cunei_map map; /* of position and slot */
};

/* Private: a yield or a resumption, see model/suspended.h. */
struct cunei_wait {
    uint64_t time;
    uint32_t slot;
    uint32_t below; /* the yield of the function before it */
};

/* Private. */
struct cunei_suspended {
    struct cunei_wait *yields; /* owned: outstanding, from 1 on; slot 0: not any more */
    uint32_t count, capacity;
    struct cunei_wait *resumes; /* owned: of yields before this span */
    uint32_t resume_count, resume_capacity;
    bool has_yields; /* there may be some in the facts of functions */
};

struct cunei_span {
    struct cunei_thread *threads; /* owned, in order of appearance */
    size_t thread_count;
    uint64_t packets;
    uint64_t discarded; /* events, as the last packet counts them */
    uint64_t missing;   /* packets, by their sequence numbers */

    /* Private from here on. */
    size_t thread_capacity;
    uint64_t first_sequence, last_sequence;
    uint64_t first_discarded;

    /* What the first thread found open; slot 0 where it could not know. */
    uint32_t *inherited;            /* owned */
    struct cunei_closing *closings; /* owned */
    uint32_t inherited_count;
    uint32_t closing_count, closing_capacity;

    bool lost;          /* something, before the packet that is being read */
    bool renewed;       /* by that: what was open before it need not be open now */
    bool first_renewed; /* the same, by the first packet */
    bool begun;         /* the last thread has said what it found open */

    /* What the last thread has open.  frames[0] is the ground that all stands on. */
    struct cunei_frame *frames; /* owned */
    uint32_t depth;             /* without the ground */
    uint32_t capacity;
    uint64_t beyond; /* frames above CUNEI_DEPTH_MAX */
    uint64_t last;   /* time of the last event */
    struct cunei_suspended waits;
    struct cunei_steps steps;
    struct cunei_gc_open_pause first_collecting; /* of the first thread … */
    struct cunei_gc_open_pause collecting;       /* … and of the last */
};

struct cunei_profile_options {
    uint32_t function_count; /* ids from CUNEI_FUNCTION_FIRST on */
    uint64_t frequency;      /* ticks per second */
    struct cunei_id_kinds kinds;
    bool tree;  /* also who called whom in which context */
    bool edges; /* also who called whom */
};

struct cunei_profile {
    struct cunei_facts *functions; /* in `memory` */
    void *memory;                  /* owned */
    uint32_t slot_count;
    struct cunei_id_kinds kinds; /* borrowed */
    uint64_t frequency;
    uint64_t multiplier; /* private: ticks to ns, as a fraction of 2^shift */
    unsigned shift;
    struct cunei_tree *tree;   /* owned; NULL: not asked for */
    struct cunei_edges *edges; /* owned; NULL: not asked for */
    struct cunei_tasks tasks;
    struct cunei_exceptions exceptions;
    struct cunei_budget_estimates guesses;
    struct cunei_text_set
        tags; /* ids of functions, and behind each the region's name */
    uint64_t said[CUNEI_CLASS_COUNT]; /* what model/user_reader.h reads, by class */
    uint64_t misused; /* marks of these that say what the program did wrong */
    struct cunei_recording_off pauses;
    uint64_t switches; /* between greenlets */
    uint64_t lines;    /* events of lines, which model/lines.h makes something of */
    uint64_t events;
    /* What should not be: events that were switched off are no part of it. */
    uint64_t orphans;  /* leaves of frames whose entry is unknown */
    uint64_t unclosed; /* frames whose leave is missing */
    uint64_t appeared; /* frames whose entry is missing, by a packet's stack */
    uint64_t gaps;     /* places where events were lost */
    uint64_t unknown;  /* events of functions that do not exist */
};

/* -ENOMEM, from any of these; the profile can then only be released. */
int cunei_profile_init(struct cunei_profile *profile,
                       const struct cunei_profile_options *options);
void cunei_profile_fini(struct cunei_profile *profile);
int cunei_profile_read(struct cunei_profile *profile, struct cunei_span *span,
                       const struct cunei_packet *packet, const uint64_t *words,
                       size_t word_count);

/* End a span's reading; the profile may read another one then. */
int cunei_profile_seal(struct cunei_profile *profile, struct cunei_span *span);

/* Append the sealed span that follows `left` to it; `right` is empty afterwards. */
int cunei_profile_join(struct cunei_profile *profile, struct cunei_span *left,
                       struct cunei_span *right);

/* When nothing more is joined: what the last thread left open becomes its fact. */
int cunei_span_finish(struct cunei_span *span);
void cunei_span_fini(struct cunei_span *span);

/* Add what another profile of the same process holds. */
int cunei_profile_add(struct cunei_profile *profile, const struct cunei_profile *other);

/* Ticks as nanoseconds. */
uint64_t cunei_profile_ns(const struct cunei_profile *profile, uint64_t ticks);

static inline uint32_t cunei_slot_function(uint32_t slot)
{
    return slot + (CUNEI_FUNCTION_FIRST - 1);
}

#endif
