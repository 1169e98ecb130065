// SPDX-License-Identifier: MIT
/*
 * Evaluators of frames that others have installed.  Most can be handed on to; some run
 * other code than the frame's, and do not bear one above them.
 */
#ifndef CUNEI_PROBE_FOREIGN_H
#define CUNEI_PROBE_FOREIGN_H

/*
 * Why there can be none above the one at this address, see wire/reason.h; 0: there can.
 */
int cunei_foreign_refusal(const void *evaluator);

#endif
