/*
** makersreader.h - who made the objects, from a file: its sections
** trace_function_infos and trace_tree (makers.h).
**
** As the rest of a file they are believed in nothing: fields are taken by the
** names that it gives them, what is wrong stays in the scan with its place, and
** memory grows with what there is. A tree may be as deep as it likes. For
** snapshotreader.c. Plain C.
*/
#ifndef TG_MAKERSREADER_H
#define TG_MAKERSREADER_H

#include "graph/graph.h"
#include "graph/jsonscan.h"

#define TG_MAKERFIELDS_MOST 16u

/* Which field each place of a record is. */
typedef struct tg_MakerFields {
  uint32_t count;
  uint8_t what[TG_MAKERFIELDS_MOST];
} tg_MakerFields;

typedef struct tg_MakersReader {
  tg_Graph *graph;      /* borrows; 'of' has the file's numbers up to the end;
                           'failed' if memory is refused */
  tg_JsonScan *scan;    /* borrows */
  tg_MakerFields function, call;
  tg_IntMap ids;        /* owns, as all here; the file's number -> ours */
  uint64_t *levels;     /* elements read so far, of each list that is open */
  uint32_t nlevels, clevels;
  tg_Buf text;
} tg_MakersReader;

/* The names of the fields of functions, or of calls. */
bool tg_makersreader_function_fields (tg_MakersReader *r);
bool tg_makersreader_call_fields (tg_MakersReader *r);

bool tg_makersreader_functions (tg_MakersReader *r);
bool tg_makersreader_tree (tg_MakersReader *r);

/* All has been read, and the strings: nodes get their makers. An object whose
   maker the tree does not have has none. */
bool tg_makersreader_end (tg_MakersReader *r);

void tg_makersreader_free (tg_MakersReader *r);

#endif
