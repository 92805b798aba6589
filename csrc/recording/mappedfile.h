/*
** mappedfile.h - a locked file that grows by mapped pieces.
**
**     |<------------------ end ------------------>|<--- reserved --->|
**     | piece | piece | piece        | piece      | zeros            |
**
** Room is taken from the disk before it is mapped, in steps, so a full disk is
** an error here and never a signal where somebody writes (SIGBUS, mmap(2)).
** What is reserved and not used is given back by tg_mappedfile_cut.
**
** A program may close descriptors that are not its own, and get the number for
** a file of its own: each use checks that the descriptor still is this file's.
**
** Plain C, one thread. Pieces belong to whoever asked for them.
*/
#ifndef TG_MAPPEDFILE_H
#define TG_MAPPEDFILE_H

#include <sys/types.h>

#include "recording/filesize.h"

typedef struct tg_MappedFile {
  int fd;                 /* owns; -1: none */
  bool made;              /* it is made, or has been emptied */
  dev_t device;           /* which file it is, as the next */
  ino_t inode;
  char *path;             /* owns */
  uint64_t end;           /* of what is mapped */
  uint64_t reserved;      /* bytes the file has */
  uint64_t limit;         /* no more than so many; 0: as the disk allows */
  bool full;              /* more than 'limit' was asked for */
  tg_FileSize size;       /* what the user is told of the size */
} tg_MappedFile;

/* Which file. */
typedef struct tg_MappedPath {
  const char *path;
  bool exclusive;         /* claimed (claim.h): if it is taken, PATH.PID */
  uint32_t run;
  bool force;
} tg_MappedPath;

/* Bytes of a page; pieces are whole ones. */
size_t tg_mappedfile_page (void);

/* Room on the disk for those bytes of a file: what is mapped there can be
   written. Returns an errno; raises no signal. */
int tg_mappedfile_allocate (int fd, uint64_t from, uint64_t size);

/* An empty file, locked; false with errno: then 'made' says whether there is
   one all the same. 'f' is zeroed but for its 'fd', -1. */
bool tg_mappedfile_open (tg_MappedFile *f, const tg_MappedPath *p);

/* Writes the beginning of a file of which nothing is mapped yet. */
bool tg_mappedfile_begin (const tg_MappedFile *f, const void *data,
                          size_t size);

/* Maps the next 'size' bytes of the file, zeros; NULL with errno. */
void *tg_mappedfile_map (tg_MappedFile *f, size_t size);

/* Writes over bytes that are mapped, or that were; what fails is as it was. */
void tg_mappedfile_write (const tg_MappedFile *f, uint64_t place,
                          const void *data, size_t size);

/* Zeros, that take no room on the disk where the system has such. */
void tg_mappedfile_punch (const tg_MappedFile *f, uint64_t place,
                          uint64_t size);

/* Makes the file that long, if it can. */
void tg_mappedfile_cut (tg_MappedFile *f, uint64_t length);

/* Removes the file, if it still has its name. */
void tg_mappedfile_remove (const tg_MappedFile *f);

/* Gives up the lock and the descriptor; or, in a forked child, the descriptor
   alone: the lock is the parent's. What is mapped stays. */
void tg_mappedfile_unlock (tg_MappedFile *f);
void tg_mappedfile_close (tg_MappedFile *f);

/* Closes the file and frees what 'f' owns. */
void tg_mappedfile_free (tg_MappedFile *f);

#endif
