/*
** definitions.h - functions of the program, each once: found by what makes a
** definition, named and described when it is new.
**
** A line with a single function tells it apart. Functions that share a line are
** told apart by their shape and, where memory is read, by their code (shape.h);
** functions that agree in all of that are one definition. So are functions of
** one shape beyond the eighth: a program may make any number of these. C
** functions are told apart by their address, and by their name if no library
** knows them.
**
** Definitions stay as long as the stream, and a program may load texts for
** ever. Where only the end is kept (overflow "ring"), functions of loaded texts
** have definitions of their own until these take as much as the buffer; later
** functions share one definition for each line ('folded'), and how many do is
** told as a loss.
*/
#ifndef TG_DEFINITIONS_H
#define TG_DEFINITIONS_H

#include "binding/lx.h"
#include "state/funcname.h"
#include "stream/functions.h"

struct tg_Session;

/* What else is known of a definition, by id. */
typedef struct tg_Identity {
  const void *cfunction;    /* NULL for a Lua function */
  tg_TextId text;           /* of a Lua function: its source, */
  uint64_t shape;           /* and its shape */
  uint64_t code;            /* hash of its code, if others may begin on its line
                               and memory is read; else 0 */
  bool unnamed;             /* it may get a name at its first call */
  bool crowded;             /* others may begin on its line */
  bool folded;              /* functions of many sources */
  bool undecided;           /* patterns took too long: it has been counted */
} tg_Identity;

typedef struct tg_Definitions {
  uint32_t *index;          /* owns; ids, hash by definition */
  uint32_t index_size, index_used;
  tg_Identity *identities;  /* owns; by id */
  uint32_t identities_size;
  tg_FuncNames *names;      /* owns; what sources declare */
  uint64_t loaded_size;     /* bytes that definitions of loaded texts take */
} tg_Definitions;

bool tg_definitions_init (tg_Definitions *k);
void tg_definitions_free (tg_Definitions *k);

/* How a function comes into sight. */
typedef enum tg_Sight {
  TG_SIGHT_VALUE,       /* as a value */
  TG_SIGHT_FRAME,       /* as a frame that was there before */
  TG_SIGHT_CALL         /* it is being called */
} tg_Sight;

/*
** The definition of the function on top of the stack; 'ar' has "Su", and "n" if
** it is being called. A definition made for a mere value has no caller's name:
** its first call makes another one. 0 without memory.
*/
tg_FunctionId tg_definitions_find (struct tg_Session *s, lua_State *L,
                                   const lua_Debug *ar, tg_Sight sight);

/* A definition of that name for all C functions of which nothing is known. 0
   without memory. */
tg_FunctionId tg_definitions_stranger (struct tg_Session *s, const char *name);

/* Whether two sources of that length are the same, as far as they are kept.
   Equal at both ends is equal enough. */
bool tg_definitions_same_text (const char *a, const char *b, size_t n);

#endif
