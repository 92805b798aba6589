/*
** tracefile.c - the stream goes onto a file, and leaves it. Called by tracing.c
** and tracelimits.c on the traced thread, partly in the hook, where what fails
** ends a trace and nothing else. Errors of the file stay in its writer
** (tg_filewriter_error).
*/
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "session/tracefile.h"
#include "base/alloc.h"
#include "recording/filesize.h"
#include "session/tellloss.h"
#include "session/traceinfo.h"

/* What is in memory stays there: sealing the chunk makes the next event, which
   is the trace's CONTEXT, the first thing in the file. The path is made
   absolute now, since the program may change its directory before the file is
   made anew in a child. */
bool tg_tracefile_begin (tg_Session *s, tg_Trace *t) {
  if (s->file.trace != NULL) {
    errno = EBUSY;
    return false;
  }
  if (!tg_fileplan_fix(t->plan)) {
    errno = ENOMEM;
    return false;
  }
  t->file = tg_filewriter_new(t->plan, s->writer.stream);
  if (t->file == NULL)
    return false;
  s->file.trace = t;
  if (s->writer.chunk != NULL)
    tg_writer_seal(&s->writer);
  return true;
}

/* The stream goes on in memory. The file keeps its last chunk for as long as
   readers need that. */
static void leave_file (tg_Session *s) {
  tg_assert(s->file.trace != NULL && s->file.trace->file != NULL);
  tg_filewriter_stop(s->file.trace->file);
  s->file.trace = NULL;
  s->file.torn = false;
  if (s->writer.chunk != NULL)
    tg_writer_seal(&s->writer);
}

/* Whoever was to find a recording must not find half of one. */
tg_Status tg_tracefile_undo (tg_Session *s, tg_Trace *t) {
  if (s->file.trace != t)
    return TG_ERR_MEMORY;
  int error = tg_filewriter_error(t->file);
  leave_file(s);
  tg_filewriter_discard(t->file);
  t->file = NULL;
  errno = error;
  return error != 0 ? TG_ERR_IO : TG_ERR_MEMORY;
}

/* ---- notes in the file ---- */

/* A trace older than the file begins, for it, where the file does. */
static tg_TraceEntry entry_of (const tg_Session *s, const tg_Trace *t) {
  const tg_Trace *first = t->start > s->file.trace->start ? t : s->file.trace;
  return (tg_TraceEntry){
    .start = first->start, .ticks = first->ticks_start,
    .packets = first->packets_start, .name = t->name, .options = t->options
  };
}

/* Without memory it has the number 0, and what is noted of 0 is nothing. */
static void note_start (tg_Session *s, tg_Trace *t) {
  tg_TraceEntry e = entry_of(s, t);
  tg_assert(s->file.trace->file != NULL);
  t->noted = tg_filewriter_started(s->file.trace->file, &e);
}

/* A restart is rare, and a file with a list of them would be read by nobody:
   the note of the trace is written over. */
void tg_tracefile_moved (const tg_Session *s, const tg_Trace *t) {
  if (s->file.trace == NULL)
    return;
  tg_TraceEntry e = entry_of(s, t);
  tg_filewriter_moved(s->file.trace->file, t->noted, &e);
}

/* A hidden trace is another client's business and is not noted, unless the file
   is its own. With the trace whose file it is, traces of the program that run
   already are noted, too. */
void tg_tracefile_started (tg_Session *s, tg_Trace *t) {
  if (s->file.trace == NULL || (t != s->file.trace && tg_trace_hidden(t)))
    return;
  note_start(s, t);
  if (t != s->file.trace)
    return;
  for (tg_Trace *other = s->traces; other != NULL; other = other->next) {
    if (other != t && other->end == TG_END_NOT && !tg_trace_hidden(other))
      note_start(s, other);
  }
}

/* As the file has it on which 'on_file' is recorded: what a ring in memory has
   dropped is there. */
static void note_end (const tg_Trace *on_file, const tg_Trace *t, tg_End why,
                      const tg_Trace *where, const uint64_t *lost) {
  tg_TraceEnd e = {
    .why = (uint32_t)why, .stop = where->stop, .ticks = where->ticks_end,
    .packets = where->packets_end
  };
  memcpy(e.lost, lost, TG_NLOSSES * sizeof *lost);
  if (!on_file->plan->ring)
    e.lost[TG_LOSS_RING] = 0;
  tg_filewriter_ended(on_file->file, t->noted, &e);
}

/* The file ends here, for traces that go on and for traces that have ended but
   still count their losses. */
static void note_others (tg_Session *s, const tg_Trace *on_file) {
  uint64_t lost[TG_NLOSSES];
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    if (t == on_file || t->noted == 0)
      continue;
    tg_traceinfo_losses(t, lost);
    if (t->end == TG_END_NOT)
      note_end(on_file, t, TG_END_STOPPED, on_file, lost);
    else
      note_end(on_file, t, t->end, t, lost);
    t->noted = 0;
  }
}

/* Losses are noted as they are now, in case the process does not live to
   settle them; settling notes them again. */
void tg_tracefile_ended (tg_Session *s, tg_Trace *t) {
  uint64_t lost[TG_NLOSSES];
  if (s->file.orphan == t)
    s->file.orphan = NULL;
  if (s->file.trace == NULL)
    return;
  tg_traceinfo_losses(t, lost);
  note_end(s->file.trace, t, t->end, t, lost);
  if (t == s->file.trace) {
    note_others(s, t);
    leave_file(s);
  }
}

/* The notes come before the file is closed, and the trace with the file may
   be the last to know of it: others note theirs on the file that is still
   open. */
void tg_tracefile_closed (tg_Trace *t) {
  char *path = NULL;
  if (t->file != NULL) {
    note_end(t, t, t->end, t, t->lost);
    if (t->plan->tells)
      tg_tellloss_file(t);
    if (t->plan->tells && t->end == TG_END_SIZE)
      tg_filesize_full(tg_filewriter_path(t->file));
    path = t->plan->tells ? tg_strcopy(tg_filewriter_path(t->file)) : NULL;
  }
  else if (t->session != NULL && t->session->file.trace != NULL)
    note_end(t->session->file.trace, t, t->end, t, t->lost);
  tg_filewriter_close(t->file);
  t->file = NULL;
  if (path != NULL)
    tg_filesize_closed(path);
  tg_free(path);
}

/* ---- fork ---- */

/* Without what the parent may have added to the last block since the fork. The
   block in which the fork found the stream is the parent's page too
   (MAP_SHARED): the child gets a copy of it, ends the stream there, and begins
   a chunk of its own. */
static void abandon (tg_Session *s, tg_Trace *t) {
  tg_FileWriter *file = t->file;
  tg_Writer *r = &s->writer;
  bool on_file = s->file.trace == t;
  t->file = NULL;
  if (on_file) {
    s->file.trace = NULL;
    s->file.torn = false;
    tg_cursor_drop(&t->hold);
    tg_writer_seal(r);
    if (t->end == TG_END_NOT)
      s->file.orphan = t;
  }
  if (tg_filewriter_abandon(file) && on_file && r->block != NULL)
    tg_block_commit(r->block, r->p);
}

/* Numbers of notes are those of the parent's file. */
void tg_tracefile_forked (tg_Session *s) {
  for (tg_Trace *t = s->traces; t != NULL; t = t->next) {
    t->noted = 0;
    if (t->file != NULL)
      abandon(s, t);
  }
}

/* The parent's file is there under the name of the plan, so the child's is
   PATH.PID ('exclusive'). */
tg_End tg_tracefile_again (tg_Session *s, tg_Trace *t) {
  tg_assert(s->file.orphan == t && s->file.trace == NULL);
  s->file.orphan = NULL;
  t->plan->exclusive = true;    /* the parent has the file */
  if (t->plan->single)
    return TG_END_STOPPED;
  return tg_tracefile_begin(s, t) ? TG_END_NOT : TG_END_DISK;
}

tg_End tg_tracefile_end (const tg_Trace *t) {
  return tg_filewriter_full(t->file) ? TG_END_SIZE : TG_END_DISK;
}

void tg_tracefile_free_plan (tg_FilePlan *plan) {
  if (plan != NULL)
    tg_fileplan_free(plan);
  tg_free(plan);
}
