// SPDX-License-Identifier: MIT
/* Opens exported files in their viewers. */
#ifndef CUNEI_CMD_COMMON_VIEWER_H
#define CUNEI_CMD_COMMON_VIEWER_H

struct cunei_buffer;
struct cunei_export_format;

/* Append how to open the file by hand, with its name if that needs no quotes. */
void cunei_viewer_format_how(const struct cunei_export_format *format, const char *file,
                             struct cunei_buffer *text);

/* Start a program, and do not wait for it.  -ECHILD: it failed at once; or of starting
 * it. */
int cunei_viewer_start(const char *program, char *const *argv);

/*
 * Start the format's viewer on the file, and do not wait for it.  If there is none, or
 * it fails at once, print that and how to open the file by hand.
 */
void cunei_viewer_open(const struct cunei_export_format *format, const char *file);

#endif
