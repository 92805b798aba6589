/*
** v8profile.h - a trace as V8's CPU profiles have it: a tree of nodes, and
** samples that say which node is innermost from one moment on.
**
** The whole program is one stack: a coroutine's frames are above the
** coroutine.resume that runs them. A sample stands wherever that stack changes,
** so nothing is guessed; what changes at one and the same moment is one sample
** if frames are only opened or only closed. Node 0, "(root)", has the time in
** no traced frame.
**
** Every sample is at least a nanosecond later than the one before, so two calls
** that follow each other at one moment have their caller between them. DevTools
** adds a call's length to its beginning, in doubles, and takes whatever begins
** before that sum for a part of the call: calls that touch would be put into
** each other. Where much happens at one moment, samples are off by as many
** nanoseconds until time has caught up.
**
** With 'ticks' the samples are the recording's own: one for each tick, at the
** beginning of the time that the tick stands for (ticks.h). Between two ticks
** there may be a sample that is no tick: of the root, where the program slept,
** or of the frames that both stacks have in common, for a nanosecond.
**
** Plain C, one thread. Memory: distinct stacks, as profile.h.
*/
#ifndef TG_V8PROFILE_H
#define TG_V8PROFILE_H

#include "base/buf.h"
#include "base/intern.h"
#include "export/export.h"
#include "profile/profile.h"

typedef struct tg_V8Sample {
  uint64_t at_ns;
  uint32_t node;
  uint32_t line;              /* in which its function is; 0 = not known */
  uint64_t ticks;             /* counted with this sample; 0: it is no tick */
} tg_V8Sample;

typedef struct tg_V8Profile {
  const tg_Export *x;         /* borrows */
  tg_Profile profile;         /* owns; with a tree: its nodes are the nodes */
  tg_Intern urls;             /* owns; scripts are numbered by them */
  tg_V8Sample latest;         /* not yet given */
  uint64_t time_ns;           /* of the latest packet */
  bool opening;               /* it opened a frame */
  bool ticks;                 /* samples are the recording's; its ticks are
                                 asked for */
} tg_V8Profile;

/* False without memory. */
bool tg_v8profile_init (tg_V8Profile *v, tg_Export *x, bool ticks);
void tg_v8profile_free (tg_V8Profile *v);     /* zeroed memory is fine */

/* The trace's start; before the first packet is added. */
void tg_v8profile_start (tg_V8Profile *v, uint64_t start_ns);

/* Adds a packet: how many samples there are now in 'out', two at most. */
uint32_t tg_v8profile_add (tg_V8Profile *v, const tg_Packet *p,
                           tg_V8Sample out[2]);

/* There are no more packets: the last two samples, of which the second is the
   root's, at the trace's end. */
void tg_v8profile_end (tg_V8Profile *v, uint64_t start_ns, uint64_t end_ns,
                       tg_V8Sample out[2]);

/* The name of a node, where it is, and its script: "callFrame" and its value,
   as one member of an object. */
void tg_v8profile_put_frame (tg_V8Profile *v, uint32_t node, tg_Buf *out);

/* The number of a node in the document: a root is 1. */
#define TG_V8_ID(node) ((node) + 1)

/* As tg_jsontext_string, but free of a word by which DevTools would take the
   document for something else. */
void tg_v8profile_put_string (tg_Buf *out, const char *s, size_t size);

/* The same of what a function is called. */
void tg_v8profile_put_label (tg_Buf *out, const tg_Function *f);

/* The same of all strings that were added since 'out' had 'at' bytes. */
void tg_v8profile_clean (tg_Buf *out, size_t at);

#endif
