/*
** ledger.h - the memory that counts lie in: of the process alone, or a file
** that is mapped into it.
**
** What is counted in a mapped file is in the system's hands at once: a process
** that is killed, by whatever signal, or that becomes another program, has
** written all of it, and nothing is done at its end. Only the machine's own end
** loses counts.
**
**     hook ─> coverage ─> counts ─> ledger ═══ DIRECTORY/PID-1.counts
**                                                        │
**     tracegrip coverage, at the end <─ merge <─ ledgerreader
**
** Each process has a file of its own, in a directory that is the run's; a
** forked child begins one, so no two write to the same bytes. The file is made
** when there is something to count, and grows by pieces, each mapped by itself
** and with room on the disk before that (a full disk is no signal). No
** descriptor is kept, which the program could close, or have for its own. Its
** directory and files are removed by whoever made the directory.
**
** Plain C, on the thread that runs the state, in the hook. What is refused is
** noted once in the file, or told, if there is none; from then on nothing new
** has a count, and what had one goes on.
*/
#ifndef TG_LEDGER_H
#define TG_LEDGER_H

#include "counts/ledgerfile.h"

typedef struct tg_LedgerPiece {
  char *data;                   /* owns */
  size_t size;
} tg_LedgerPiece;

/* Zeroed memory is empty, and of the process alone. */
typedef struct tg_Ledger {
  char *directory;              /* owns; NULL: memory of the process */
  void (*complain) (int error); /* that there will be no file; or NULL */
  char *path;                   /* owns; NULL: there is no file yet */
  tg_LedgerHead *head;          /* in the first piece; NULL: there is no file */
  tg_LedgerPiece *pieces;       /* owns */
  uint32_t npieces, capacity;
  char *next;                   /* in the last piece: what is not yet used */
  size_t left;
  uint64_t end;                 /* of all pieces */
  uint32_t nsources, nfunctions;
  bool over;                    /* there is no room any more */
} tg_Ledger;

/* The number of a new source; 0: there is no room. */
uint32_t tg_ledger_source (tg_Ledger *l, const char *text, size_t size);

/* A new function, and the counts of so many of its lines; NULL. Its number is
   how many there are by now. */
tg_LedgerFunction *tg_ledger_function (tg_Ledger *l, uint32_t source,
                                       int first, int last, uint32_t nlines);

/* Where a function's lines from TG_LEDGER_LINES * page on are counted; NULL. */
uint64_t *tg_ledger_counts (tg_Ledger *l, uint32_t function, uint32_t page);

/* Counts are missing for want of memory. */
void tg_ledger_missing (tg_Ledger *l, int error);

/* Empty again, with its directory: what was written stays a file's. In a forked
   child as well. */
void tg_ledger_renew (tg_Ledger *l);

/* Frees all; files stay. */
void tg_ledger_free (tg_Ledger *l);

#endif
