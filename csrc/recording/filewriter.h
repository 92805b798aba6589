/*
** filewriter.h - the file that a stream is recorded on.
**
** While a stream has a file, its chunks are blocks of the file's file, mapped:
** what the hook writes is in the file at once, without a copy, a thread or a
** system call. The process may be killed at any instant and the file is good up
** to its last complete event. Functions are written when they are defined,
** before any event can name them; traces when they start and when they end.
**
** The file is extended before it is mapped, in steps, so a full disk is an
** error that a request for a block gives, never a signal. After that error the
** file is *stopped*: it takes nothing more, and the writer goes on in memory.
** The file of a ring can go on in the blocks that it has, if some are given
** back.
**
** All functions are used on the traced thread, but blocks may be given back on
** any (with the store's mutex held). A program may close descriptors that are
** not its own: so before each use the descriptor is checked to be that of the
** file.
**
** Owned by the trace that records (session.h); blocks that cursors still need
** keep it alive a little longer.
*/
#ifndef TG_FILEWRITER_H
#define TG_FILEWRITER_H

#include "recording/entries.h"
#include "recording/fileformat.h"
#include "stream/stream.h"

typedef struct tg_FileWriter tg_FileWriter;

/* What to record on. */
typedef struct tg_FilePlan {
  char *path;             /* owns */
  bool exclusive;         /* the path is claimed (claim.h): if it is taken,
                             PATH.PID instead */
  uint32_t run;           /* files of other runs make way; 0: no file does
                             (claim.h) */
  bool force;             /* files that are no recordings make way too */
  tg_SourceTest *sources; /* with the text of sources that pass; NULL: none */
  bool ring;
  bool packs;             /* its blocks are packed (packer.h); not those of a
                             ring */
  uint64_t max_size;      /* bytes that the file may have; 0: no limit */
  bool tells;             /* on standard error: losses, and the file's size
                             (filesize.h) */
  bool single;            /* makes no other files: no snapshots, and none in
                             forked children */
  tg_Program program;     /* owns */
} tg_FilePlan;

void tg_fileplan_free (tg_FilePlan *p);

/* Makes the path absolute: the program may change its directory. False without
   memory. */
bool tg_fileplan_fix (tg_FilePlan *p);

/*
** A file with all that 'stream' has defined so far; from now on its chunks and
** definitions go there. NULL: errno says why, and nothing has changed.
*/
tg_FileWriter *tg_filewriter_new (const tg_FilePlan *plan, tg_Stream *stream);

/* Notes a trace that has started; its number for tg_filewriter_ended, 0 if it
   could not be noted. 'end' of the entry is zeroed. */
uint32_t tg_filewriter_started (tg_FileWriter *t, const tg_TraceEntry *entry);

/* Notes that a trace begins anew, as 'entry' says. 0 is fine. */
void tg_filewriter_moved (tg_FileWriter *t, uint32_t number, const tg_TraceEntry
*entry);

/* Notes how a trace ended, or what it has lost by now. NULL and 0 are fine. */
void tg_filewriter_ended (tg_FileWriter *t, uint32_t number, const tg_TraceEnd
*end);

/* Notes what samples of another process lack by now. NULL is fine. */
void tg_filewriter_misses (tg_FileWriter *t, const tg_Misses *m);

/* The stream's chunks and definitions go to the file no more. */
void tg_filewriter_stop (tg_FileWriter *t);

/* The errno for which the file was stopped; 0 = no error. */
int tg_filewriter_error (const tg_FileWriter *t);

/* Whether the file was stopped at the size that it may have: then it is
   complete. */
bool tg_filewriter_full (const tg_FileWriter *t);

/* Whether the file of a ring was refused its last block for want of room, and
   would go on if a block of that size was given back. */
bool tg_filewriter_starved (const tg_FileWriter *t);

/* No block will be given back: a refusal is an error from now on. */
void tg_filewriter_starve (tg_FileWriter *t);

const char *tg_filewriter_path (const tg_FileWriter *t);

/* Stopped for good: the file gets its length and its state. NULL is fine. */
void tg_filewriter_close (tg_FileWriter *t);

/* The same of a file that was to have more: its state says "cut off". */
void tg_filewriter_leave (tg_FileWriter *t);

/* The same of a file that was never used: no file is left. */
void tg_filewriter_discard (tg_FileWriter *t);

/*
** In a forked child: the file is the parent's. Blocks that are still needed
** become this process's own memory, and the file is stopped and closed without
** a trace of it in the file. False if there was no memory for all of them: none
** may be written to.
*/
bool tg_filewriter_abandon (tg_FileWriter *t);

#endif
