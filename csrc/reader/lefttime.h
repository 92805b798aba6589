/*
** lefttime.h - the time of calls that are left out, as calls of nobody.
**
** If calls do not fit into a document, their time must not seem to be their
** caller's. So where calls were left out between two packets that are given,
** there is one box, TG_FUNCTION_LEFT. The box begins with the first of these
** calls and is as long as all of them ran together; the time that their caller
** took in between follows the box:
**
**     read      >a >b <b >c <c >d            a, d: given; b, c: left out
**     given     >a [  left  ]  >d
**
** Plain C, for minduration.c, on its thread. Memory: nothing beyond this.
*/
#ifndef TG_LEFTTIME_H
#define TG_LEFTTIME_H

#include "base/base.h"
#include "reader/reader.h"

typedef enum tg_LeftStage {
  TG_LEFT_NONE,         /* nothing waits to be given */
  TG_LEFT_OPENED,       /* the box's entry was given */
  TG_LEFT_CLOSED        /* its exit, too: the packet behind it waits */
} tg_LeftStage;

typedef struct tg_LeftTime {
  bool wanted;          /* there are boxes */
  uint64_t from_ns;     /* when the first call left out here began */
  uint64_t length_ns;   /* time of all these calls; 0: there were none */
  tg_ThreadId thread;   /* whose time it would be */
  tg_FunctionId body;   /* 0, or what that coroutine begins with, as far as is
                           known */
  tg_LeftStage stage;
  bool held;            /* there is a packet behind the box... */
  tg_Packet packet;     /* ...this one */
} tg_LeftTime;

/* A part of a call that is left out took 'length_ns' from 'now_ns' on. */
void tg_lefttime_add (tg_LeftTime *l, uint64_t now_ns, uint64_t length_ns,
                      tg_ThreadId thread, tg_FunctionId body);

/* Puts the box in place of a packet that is about to be given, which may be
   '*out' itself, and holds that back; NULL: there is none, since all has been
   read. False if there is no box. */
bool tg_lefttime_before (tg_LeftTime *l, const tg_Packet *p, tg_Packet *out);

/* What is to be given before anything is read again: the box's exit, then what
   was held back. False if there is nothing. */
bool tg_lefttime_next (tg_LeftTime *l, tg_Packet *out);

#endif
