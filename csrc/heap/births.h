/*
** births.h - objects by the order of their birth, between marks that are made
** while the program runs: what the front end's "Allocations on timeline" needs.
**
** A mark is two objects that are made for it, one on the list of all objects
** and one on that of objects with finalizers. Both lists have the newest first,
** and objects keep their order as long as they live: so what lies between two
** marks was born between them, whatever has gone meanwhile, and no address that
** was used again is taken for another object.
**
**     oldest ... o o [mark 0] o o o [mark 1] o [mark 2] o o ... newest
**     stretch     0               1           2          3
**
** An object's number counts from the mark before it, where as many numbers are
** given away as there were objects then: a stretch that is over only loses
** objects. What gets a finalizer later, or is brought back by one, is as new as
** that; what waits for its own counts as the newest.
**
** Plain C, over a census (census.h) of one moment.
*/
#ifndef TG_BIRTHS_H
#define TG_BIRTHS_H

#include "heap/birth.h"
#include "heap/census.h"

typedef struct tg_BirthMark {
  uint64_t plain, final;        /* addresses of its objects */
  uint64_t time_us;
  uint32_t born;        /* how many numbers are given away with it */
  uint32_t count;       /* of its stretch: objects that are alive... */
  uint64_t bytes;       /* ...and what they have */
  bool changed;         /* that, since the mark before the last */
} tg_BirthMark;

typedef struct tg_Births {
  uint32_t base;        /* the first number: those before were given away by
                           earlier marks of the process */
  tg_BirthMark *marks;  /* owns, as all that follows */
  uint32_t nmarks, cmarks;
  uint32_t *numbers;    /* by object of the census that was numbered */
  uint32_t count;
  uint64_t *at;         /* by number, an address; 0: there is none */
  uint32_t most;        /* numbers */
} tg_Births;

/* The number that DevTools get of an object, and of a mark: that of the last
   object before it. */
TG_INLINE uint64_t tg_births_id (const tg_Births *b, uint32_t number) {
  return TG_BIRTH_FIRST + 2 * ((uint64_t)b->base + number);
}

TG_INLINE uint64_t tg_births_last (const tg_Births *b, const tg_BirthMark *m) {
  return tg_births_id(b, m->born) - 2;
}

/* No id is given away twice by marks that begin behind others; but they begin
   anew where half of all numbers are gone. */
void tg_births_begin (tg_Births *b, const tg_Births *before);

/* A mark was made. Adds up what is alive; false without memory, and then there
   is no such mark. */
bool tg_births_mark (tg_Births *b, const tg_Heap *h, tg_BirthMark mark);

/* Numbers the objects of that moment. False without memory. */
bool tg_births_number (tg_Births *b, const tg_Heap *h);

/* The address that had an id then; 0: none. */
uint64_t tg_births_address (const tg_Births *b, uint64_t id);

/* The id of an address; 0: it had none. */
uint64_t tg_births_find (const tg_Births *b, uint64_t at);

void tg_births_free (tg_Births *b);             /* zeroed memory is fine */

#endif
