/*
** shelf.h - blocks of an opened recording, loaded while a cursor is in them.
**
** The supply (store.h) of a recording's chunks. Blocks are read into memory and
** never mapped: a file that shrinks or a disk that fails is then an error that
** the reader gets, not a signal that the program does.
*/
#ifndef TG_SHELF_H
#define TG_SHELF_H

#include "stream/store.h"

/* A supply from this file, of whose descriptor it has a copy. Pinned once, for
   the caller. NULL with errno. */
tg_Supply *tg_shelf_new (int fd);

#endif
