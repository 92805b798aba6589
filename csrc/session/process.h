/*
** process.h - what becomes of all sessions when the process exits, and in the
** child of a fork.
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

/* From now on that is seen to. Often is fine. */
void tg_process_setup (void);

#endif
