/*
** process.h - all sessions of the process: what becomes of them when it exits,
** and in the child of a fork.
**
** At exit the session of the exiting thread ends in order: its frames exit
** "terminated", its live logs get their last line, its file is closed. Those of
** other threads may be at work and are left alone; what they wrote is written.
**
** A forked child goes on tracing on the thread that forked, into its own copy
** of the memory. Its live logs end there without a word, since they are the
** parent's; traces read by another thread (follower.h) have lost their reader;
** one with a file gets a file of its own with its first event.
*/
#ifndef TG_PROCESS_H
#define TG_PROCESS_H

#include "state/session.h"

/* From its making until its state closes. */
void tg_process_add (tg_Session *s);
void tg_process_remove (tg_Session *s);

#endif
