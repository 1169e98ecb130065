// SPDX-License-Identifier: MIT
/* Opens a page in the user's browser. */
#ifndef CUNEI_CMD_COMMON_BROWSER_H
#define CUNEI_CMD_COMMON_BROWSER_H

/*
 * Open the page with $BROWSER, or with the desktop's browser, and do not wait for it.
 * Without either, or if all fail, print how to look at the page.
 */
void cunei_browser_open(const char *file);

#endif
