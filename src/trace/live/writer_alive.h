// SPDX-License-Identifier: MIT
/* Whether the process that writes a live file still does. */
#ifndef CUNEI_TRACE_LIVE_WRITER_ALIVE_H
#define CUNEI_TRACE_LIVE_WRITER_ALIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Whether this is the boot of this machine that `boot_id` names. */
bool cunei_trace_is_this_boot(const uint8_t boot_id[16]);

/* Whether `host` is what this machine calls itself. */
bool cunei_trace_is_this_host(const char *host);

/*
 * Whether process `pid` of this machine maps the file, which is called `path`.  A
 * process that may not be looked at is taken to do so: better a trace that is not
 * recovered yet than one that is changed under its writer.
 */
bool cunei_trace_is_mapped(uint32_t pid, const char *path, const struct stat *file);

#endif
