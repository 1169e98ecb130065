// SPDX-License-Identifier: MIT
/*
 * Source files inside a zip archive, such as a .pyz.  Python names them as if the
 * archive were a folder: /home/ann/app.pyz/__main__.py.
 */
#ifndef CUNEI_TRACE_SOURCE_CODE_ZIP_MEMBER_H
#define CUNEI_TRACE_SOURCE_CODE_ZIP_MEMBER_H

#include <stddef.h>

/*
 * Unpack the member `name` of an archive that is in memory, NUL-terminated and owned by
 * the caller.  -ENOENT: it has no such member; -EFBIG: the member has more than `max`
 * bytes; -EBADMSG: it is not a zip archive, or damaged; -ENOTSUP: the member is
 * encrypted, or compressed in a way that this build does not know.
 */
int cunei_zip_member_read(const char *zip, size_t zip_size, const char *name,
                          size_t max, char **text, size_t *size);

#endif
