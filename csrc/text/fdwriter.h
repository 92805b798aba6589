/*
** fdwriter.h - writing to a file descriptor from inside somebody's program.
**
** A writer has a descriptor of its own, with a high number: the program may
** close the one it was made from and give its number to another file, and its
** own files get the numbers that they would have had.
**
** All of it or an error, whatever signals arrive and whether or not the
** descriptor blocks. A pipe without a reader is an error like any other: its
** SIGPIPE never reaches the program. The first error is latched; what comes
** after it is not attempted.
*/
#ifndef TG_FDWRITER_H
#define TG_FDWRITER_H

#include "base/base.h"

typedef struct tg_FdWriter {
  int fd;               /* owns */
  int error;            /* errno of the write that failed; 0 = none */
  bool pipe;            /* writing may raise SIGPIPE */
  bool terminal;
} tg_FdWriter;

/* A copy of 'fd' with a number out of the program's way; -1 with errno. */
int tg_fdwriter_duplicate (int fd);

/* Sees to it that no file gets the number of a standard descriptor that the
   program does not have. To read or write there fails as before, and programs
   that it runs do not have it either. */
void tg_fdwriter_occupy (void);

/* A writer to where 'fd' leads. */
void tg_fdwriter_open (tg_FdWriter *o, int fd);

void tg_fdwriter_close (tg_FdWriter *o);

/* Whether all of it was written. */
bool tg_fdwriter_write (tg_FdWriter *o, const char *data, size_t size);

/* Columns of the terminal; 0 if it is none or does not tell. */
uint32_t tg_fdwriter_width (const tg_FdWriter *o);

/* The same of lines. */
uint32_t tg_fdwriter_height (const tg_FdWriter *o);

#endif
