/*
** cstack.h - the C stack of another process's thread, frame by frame: by its
** registers, by a copy of the stack's top, and by the process's memory for what
** is below that.
**
**     registers + copy (a tick, or a thread that stands still)
**         └─> libdw ─ unwind tables of the files that the process has mapped,
**                │    or frame pointers where code has none
**                └─> pcs, innermost first ─> ccode: whose code that is
**
** What is below the copy is read a little later: it belongs to callers, which
** are mostly the same ones; what does not fit together ends the walk. Bounded:
** so many frames. Plain C, one thread.
*/
#ifndef TG_CSTACK_H
#define TG_CSTACK_H

#include "native/ccode.h"
#include "outside/registers.h"

#define TG_CSTACK_FRAMES 512u

typedef struct tg_CStack {
  tg_CCodes codes;      /* owns, as all here */
  const tg_Libdw *lib;
  tg_DwflCallbacks callbacks;   /* libdw borrows them */
  Dwfl *dwfl;           /* NULL: nothing can be unwound */
  tg_Memory *memory;    /* borrows */
  const char *root;     /* borrows; before paths of files */
  uint64_t mark;        /* of the maps that it was made of */
  const tg_Registers *registers;        /* borrow, while it unwinds */
  const uint8_t *copy;
  size_t copy_size;
  uint32_t list[TG_CSTACK_FRAMES];      /* places in 'codes'; innermost first */
  uint32_t count;
  bool whole;           /* to the thread's begin */
} tg_CStack;

/* False: there is no libdw here. Whatever is answered, tg_cstack_close. */
bool tg_cstack_open (tg_CStack *c, tg_Memory *memory, const char *root);
void tg_cstack_close (tg_CStack *c);

/* The process's maps may be others by now: files that have come are known from
   now on. True: some have come or gone, and what was known of functions
   (ccode.h) is forgotten. */
bool tg_cstack_renew (tg_CStack *c);

/* Unwinds a stack into 'list'; 'copy' are the bytes from registers->stack on,
   as they were; NULL: there is none. */
void tg_cstack_unwind (tg_CStack *c, const tg_Registers *registers,
                       const uint8_t *copy, size_t size);

/* The code of a frame, 0 the innermost. */
TG_INLINE tg_CCode *tg_cstack_code (const tg_CStack *c, uint32_t i) {
  return &c->codes.list[c->list[i]];
}

#endif
