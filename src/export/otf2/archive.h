// SPDX-License-Identifier: MIT
/*
 * An OTF2 archive that is being written: its definitions, which come once, and its
 * locations, one after the other.
 *
 *     struct cunei_otf2 archive = {.export = export};
 *     int rc = cunei_otf2_open(&archive);
 *     cunei_otf2_process(&archive, 0);
 *     cunei_otf2_location(&archive, packet);
 *     … archive.otf2->EvtWriter_Enter(archive.writer, …), cunei_otf2_count(&archive) …
 *     rc = cunei_otf2_close(&archive, rc);
 *
 * Errors are kept: check cunei_otf2_result from time to time.
 */
#ifndef CUNEI_EXPORT_OTF2_ARCHIVE_H
#define CUNEI_EXPORT_OTF2_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "export/otf2/library.h"
#include "export/otf2/strings.h"

struct cunei_export;
struct cunei_otf2_location;
struct cunei_packet;
struct cunei_trace_process;
struct cunei_wall_clock;

/* Regions that are not functions. */
enum {
    CUNEI_OTF2_REGION_ERROR,
    CUNEI_OTF2_REGION_GC,
};

/* How a call began or ended, if not by a call or a return. */
enum {
    CUNEI_OTF2_ATTRIBUTE_BEGIN,
    CUNEI_OTF2_ATTRIBUTE_END,
};

struct cunei_otf2 {
    struct cunei_export *export;
    const struct cunei_otf2_library *otf2;
    const struct cunei_trace_process *process; /* that is written */
    OTF2_EvtWriter *writer;                    /* of its thread */
    OTF2_AttributeList *attributes;            /* empty */
    uint64_t last;                             /* the thread's last timestamp */

    /* Private. */
    OTF2_Archive *handle;
    OTF2_GlobalDefWriter *definitions;
    struct cunei_otf2_names strings, parameters, hosts, metrics;
    struct cunei_buffer text;              /* of what is being defined */
    struct cunei_otf2_location *locations; /* owned */
    size_t location_count;
    const struct cunei_wall_clock *wall;
    OTF2_LocationGroupRef group; /* of the process */
    OTF2_RegionRef *regions;     /* owned: of its functions */
    OTF2_RegionRef region_count; /* so far: readers need numbers without gaps */
    OTF2_ErrorCode error;
    int number; /* errno at that time */
};

/* -ENOMEM, or of writing. */
int cunei_otf2_open(struct cunei_otf2 *archive);

/* `rc` is the result of writing; returns that, or an error of closing. */
int cunei_otf2_close(struct cunei_otf2 *archive, int rc);

/* The first error, as a negative errno. */
void cunei_otf2_note(struct cunei_otf2 *archive, OTF2_ErrorCode error);
int cunei_otf2_result(const struct cunei_otf2 *archive);

/* What follows is of this process, by its index in the trace. */
void cunei_otf2_process(struct cunei_otf2 *archive, size_t index);

/* What follows is of this thread; its last name counts. */
int cunei_otf2_location(struct cunei_otf2 *archive, const struct cunei_packet *packet);
void cunei_otf2_location_name(struct cunei_otf2 *archive, const char *name,
                              size_t size);
void cunei_otf2_location_end(struct cunei_otf2 *archive);

/* An event was written to it. */
void cunei_otf2_count(struct cunei_otf2 *archive);

/* Ticks as a timestamp; those of a location never go back. */
uint64_t cunei_otf2_stamp(struct cunei_otf2 *archive, uint64_t time);

OTF2_RegionRef cunei_otf2_region(const struct cunei_otf2 *archive, uint32_t function);

/* Defined at first use. */
OTF2_StringRef cunei_otf2_string(struct cunei_otf2 *archive, const char *text,
                                 size_t size);
OTF2_StringRef cunei_otf2_word(struct cunei_otf2 *archive, const char *text);

/* A parameter with the name `prefix` plus `name`; its values are texts or numbers. */
OTF2_ParameterRef cunei_otf2_parameter(struct cunei_otf2 *archive, const char *prefix,
                                       const char *name, size_t size,
                                       OTF2_ParameterType type);

/* A counter of this name, whose values are doubles. */
OTF2_MetricRef cunei_otf2_metric(struct cunei_otf2 *archive, const char *name);

#endif
