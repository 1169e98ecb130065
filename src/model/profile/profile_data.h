// SPDX-License-Identifier: MIT
/* What a profile (model/profile/profile.h) and a piece of it hold. */
#ifndef CUNEI_MODEL_PROFILE_PROFILE_DATA_H
#define CUNEI_MODEL_PROFILE_PROFILE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/facts/budget_estimates.h"
#include "model/facts/exceptions.h"
#include "model/facts/function_facts.h"
#include "model/facts/gc_pauses.h"
#include "model/facts/recording_off.h"
#include "model/facts/tasks.h"
#include "model/facts/text_set.h"
#include "model/facts/wall_clock.h"
#include "model/profile/packet_gap.h"
#include "model/profile/suspended.h"
#include "model/profile/task_steps.h"
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

/* What a thread did. */
struct cunei_thread {
    uint32_t serial;
    uint32_t vtid;
    char name[CUNEI_THREAD_NAME_MAX + 1]; /* its latest name */
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
    uint32_t *open; /* owned: functions open at its end, outermost first */
    uint32_t open_count;
    uint32_t
        open_depth; /* how many were open; `open` has the innermost CUNEI_OPEN_MAX */
};

/* Private. */
struct cunei_frame {
    uint64_t entered; /* or resumed; see model/profile/profile_stack.h */
    uint32_t slot;
    uint32_t run;   /* frames of the same function directly on top of each other */
    uint32_t node;  /* of the call tree */
    uint32_t edge;  /* of its caller and it */
    uint32_t owner; /* whose own time it is: for a region, of the function below it */
    uint32_t level; /* how many functions are open up to here */
};

/* Private: an activation of an inherited frame ended. */
struct cunei_closing {
    uint64_t time;
    uint32_t position;
    uint32_t slot;
};

struct cunei_piece {
    struct cunei_thread *threads; /* owned, in order of appearance */
    size_t thread_count;
    uint64_t packets;
    uint64_t discarded;          /* events, as the last packet counts them */
    struct cunei_packet_gap gap; /* packets that are not there */

    /* Private from here on; here because the loops of profile.c are inline. */
    size_t thread_capacity;
    uint64_t first_sequence, last_sequence;
    uint64_t first_discarded;

    /* The slots of what the first thread found open; 0 where it could not know. */
    uint32_t *inherited;            /* owned */
    struct cunei_closing *closings; /* owned */
    uint32_t inherited_count;
    uint32_t closing_count, closing_capacity;

    bool lost;          /* something, before the packet that is being read */
    bool renewed;       /* by that: what was open before it need not be open now */
    bool first_renewed; /* the same, by the first packet */
    bool begun;         /* the first `stack` of the last thread was read */

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
    bool tree;    /* also calls by their whole stack … */
    bool threads; /* … of each thread */
    bool edges;   /* also calls by their caller */
};

struct cunei_profile {
    struct cunei_facts *functions; /* in `memory` */
    void *memory;                  /* owned */
    uint32_t slot_count;
    struct cunei_id_kinds kinds; /* borrowed */
    struct cunei_tick_scale scale;
    struct cunei_tree *tree;   /* owned; NULL: not asked for */
    bool has_threads;          /* the tree has a node for each thread */
    struct cunei_edges *edges; /* owned; NULL: not asked for */
    struct cunei_tasks tasks;
    struct cunei_exceptions exceptions;
    struct cunei_budget_estimates guesses;
    struct cunei_text_set
        tags; /* ids of functions, and behind each the region's name */
    uint64_t user_events[CUNEI_CLASS_COUNT]; /* what model/user/user_reader.h reads, by
                                                class */
    uint64_t misused; /* marks of these that report an error of the program */
    struct cunei_recording_off pauses;
    uint64_t switches; /* between greenlets */
    uint64_t lines; /* events of lines, which model/walk/lines.h makes something of */
    uint64_t events;
    /* Inconsistencies of the trace; events that were switched off are not counted. */
    uint64_t orphans;  /* leaves of frames whose entry is unknown */
    uint64_t unclosed; /* frames whose leave is missing */
    uint64_t appeared; /* frames whose entry is missing, by a packet's stack */
    uint64_t gaps;     /* places where events were lost */
    uint64_t unknown;  /* events of functions that do not exist */
};

#endif
