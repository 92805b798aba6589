/*
** lifeline.h - whether the process that listened, of which this one is a forked
** child, has ended: a pipe that the kernel closes for it, however it ends.
**
**     the process that listens          its children, and theirs
**       writer, for as long     ---->     reader: hung up when the process has
**       as it lives                       ended or runs another program
**
** A byte in the pipe says that the program has closed its last address itself:
** then no child is to open it again.
**
** In a child the pipe can send SIGURG when it hangs up, to the thread that
** forked. Where the program has closed all descriptors, as some daemons do, or
** has no /proc, nothing is sent, and who wants to know has to ask.
**
** A daemon's parent ends while the daemon still forks and closes what it has
** inherited. What is opened then would be closed with that, or be the wrong
** process's. So a second is to pass, after which SIGURG comes once more.
**
** One for the process. Written by whoever has the server's mutex, and after a
** fork by the one thread that there is; asked by that one, in a handler too.
*/
#ifndef TG_LIFELINE_H
#define TG_LIFELINE_H

#include <signal.h>

#include "base/base.h"

/* This process listens: its children have a pipe from now on. What it has
   inherited itself is let go of. Again is fine. Without descriptors they have
   none, and never hear that it has ended. */
void tg_lifeline_begin (void);

/* The program listens no more because it wants so: its children are not
   to. */
void tg_lifeline_cut (void);

/* The server has ended, and so does the process, or this library in it. */
void tg_lifeline_end (void);

/* Lets go of what was inherited. */
void tg_lifeline_leave (void);

/* In a forked child, before anything else here. */
void tg_lifeline_forked (void);

/* From now on the calling thread gets SIGURG when the process that listened has
   ended; at once if it has. A child of this one has to ask anew. */
void tg_lifeline_arm (void);

/* Whether there is something to be done about that: tg_lifeline_wait, or, after
   that time, what it was waited for. Never if this process listens itself. For
   handlers. */
bool tg_lifeline_due (void);

/* Whether it is too early. The first time that is so; 'signal': the calling
   thread gets one when it is so no more. */
bool tg_lifeline_wait (bool signal);

/* Whether a signal that came is one of these. */
bool tg_lifeline_sent (const siginfo_t *info);

/* A line on standard error, if that still leads where it led at the fork: a
   daemon may have something else there, which is not ours to write to. */
void tg_lifeline_tell (const char *line);

#endif
