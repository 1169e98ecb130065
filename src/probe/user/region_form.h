// SPDX-License-Identifier: MIT
#ifndef CUNEI_PROBE_USER_REGION_FORM_H
#define CUNEI_PROBE_USER_REGION_FORM_H

/* How a region was begun; it is ended in the same way. */
enum cunei_region_form {
    CUNEI_REGION_WITH,
    CUNEI_REGION_CALLS, /* region_begin and region_end */
    CUNEI_REGION_TOOL,  /* by a tool that runs the program: pytest, a notebook */
};

#endif
