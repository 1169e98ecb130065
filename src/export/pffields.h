// SPDX-License-Identifier: MIT
/* The numbers of Perfetto's perfetto_trace.proto, as far as we write them. */
#ifndef CUNEI_EXPORT_PFFIELDS_H
#define CUNEI_EXPORT_PFFIELDS_H

enum {
    TRACE_PACKET = 1,

    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_CLOCK = 58,
    PACKET_TRACK = 60,

    SNAPSHOT_CLOCKS = 1,
    SNAPSHOT_PRIMARY = 2,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,
    CLOCK_INCREMENTAL = 3,

    DEFAULTS_TRACK_EVENT = 11,
    DEFAULTS_TRACK = 11,

    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    PROCESS_PID = 1,
    PROCESS_CMDLINE = 2,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,

    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK = 11,
    EVENT_CATEGORY_NAME = 22,
    EVENT_NAME = 23,
    EVENT_LOCATION = 34,

    INTERNED_NAMES = 2,
    INTERNED_CATEGORIES = 1,
    INTERNED_LOCATIONS = 4,
    ITEM_ID = 1,
    ITEM_NAME = 2,
    LOCATION_FILE = 2,
    LOCATION_FUNCTION = 3,
    LOCATION_LINE = 4,

    ANNOTATION_BOOL = 2,
    ANNOTATION_NUMBER = 3,
    ANNOTATION_TEXT = 6,
    ANNOTATION_NAME = 10,
};

enum {
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_INSTANT = 3,
};

enum {
    STATE_CLEARED = 1,
    STATE_NEEDED = 2,
};

/* Perfetto's for the wall clock, and the first that is a sequence's own. */
enum {
    CLOCK_REALTIME = 1,
    CLOCK_OWN = 64,
};

#endif
