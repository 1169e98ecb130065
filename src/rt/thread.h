// SPDX-License-Identifier: MIT
/* The streams of threads; private to rt/. */
#ifndef CUNEI_RT_THREAD_H
#define CUNEI_RT_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct cunei_recorder_state;
struct cunei_stream;

/* Watch for threads that end; call it once, before the first stream is made. */
int cunei_thread_watch_ends(struct cunei_recorder_state *recording);

/* The calling thread's stream, made if it has none; NULL: there is no memory. */
struct cunei_stream *cunei_thread_own(struct cunei_recorder_state *recording);

/* Give the stream a slot; false: there is none.  `may_begin` predicts that cheaply. */
bool cunei_thread_may_begin(struct cunei_recorder_state *recording, uint64_t now);
bool cunei_thread_begin(struct cunei_recorder_state *recording,
                        struct cunei_stream *stream, uint64_t *now);
int cunei_thread_close_all(struct cunei_recorder_state *recording);

/* Send every thread through cunei_recorder_room soon; the caller holds the lock. */
void cunei_thread_poke_all(struct cunei_recorder_state *recording);

/* The same at a tick, or with the next event: cunei_recorder_set_alarm, …_renew. */
void cunei_thread_alarm_all(struct cunei_recorder_state *recording, uint64_t tick);
void cunei_thread_renew_all(struct cunei_recorder_state *recording, bool keeps_on);

/* The calling thread has reacted to a poke: its open packet gets its deadline back. */
void cunei_thread_undo_poke(const struct cunei_recorder_state *recording,
                            struct cunei_stream *stream);

/* In a forked child: free the streams of all threads but the calling one. */
void cunei_thread_keep_own(struct cunei_recorder_state *recording);

#endif
