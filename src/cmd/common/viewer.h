// SPDX-License-Identifier: MIT
/* Showing what was exported in the program that is for it. */
#ifndef CUNEI_CMD_COMMON_VIEWER_H
#define CUNEI_CMD_COMMON_VIEWER_H

struct cunei_buffer;
struct cunei_export_format;

/* How to open it by hand, with its name where such a one can stand in a command. */
void cunei_viewer_tell(const struct cunei_export_format *format, const char *file,
                       struct cunei_buffer *text);

/*
 * Start the format's program on the file, which then goes on by itself.  Where there is
 * none, or it gives up at once, that is said, and how to open the file by hand.
 */
void cunei_viewer_open(const struct cunei_export_format *format, const char *file);

#endif
