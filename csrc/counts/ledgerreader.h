/*
** ledgerreader.h - adds what is in a file of counts (ledgerfile.h) to others.
**
** The file may be of a process that was killed, or that still counts: it is
** read once, as far as it is complete then. Whatever is in it, nothing is read
** beyond it. Plain C, any thread.
*/
#ifndef TG_LEDGERREADER_H
#define TG_LEDGERREADER_H

#include "counts/counts.h"

typedef enum tg_LedgerState {
  TG_LEDGER_READ,
  TG_LEDGER_BROKEN,     /* it is none, or not to its end: what came before that
                           is added */
  TG_LEDGER_MEMORY      /* there was too little to add all */
} tg_LedgerState;

typedef struct tg_LedgerInfo {
  int64_t process;
  int error;            /* errno for which it has not counted all; 0 */
} tg_LedgerInfo;

/* Adds the file's counts to 'c', which are in memory. A source has for its text
   there the text as it was, a zero byte, and the directory that it is relative
   to. 'info' is filled unless the file is no file of counts. */
tg_LedgerState tg_ledgerreader_add (tg_Counts *c, const char *data,
                                    size_t size, tg_LedgerInfo *info);

#endif
