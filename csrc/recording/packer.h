/*
** packer.h - a thread that packs the blocks of a recording when they are full,
** with libzstd, so that the program's thread does nothing for it.
**
**     +----------------+--------+--------+--------+--------+
**     | PACKED, PACKED | empty  | full   | full   | events |   of the file
**     +----------------+--------+--------+--------+--------+
**       lower rooms                waits   waits    written
**
** A block that is full waits. What it becomes, a block PACKED (block.h), goes
** into a *room* (rooms.h): a piece of the file that is empty, the lowest. Then
** the block is a room itself, for what is packed or for new events; for those
** the highest is taken. So the file grows by what is packed, and its end is
** what can be cut off.
**
** At every moment each event is in the file, and blocks that say the same have
** the same base (docs/recording.md): a block PACKED is whole before one store
** shows it, and is shown before the one that it was is emptied. So nothing is
** lost when the process is killed.
**
** The thread touches memory that is mapped, and no descriptor: a program may
** close those, and open files of its own by their numbers. Room that is missing
** it asks for ('wants'), and whoever has the file gives it.
**
** Plain C. The lists are under the packer's mutex, which is taken within the
** store's (store.h). What cannot be packed, for want of memory, of room, of the
** library, of the thread, or since there are too many, stays as it is.
*/
#ifndef TG_PACKER_H
#define TG_PACKER_H

#include "recording/rooms.h"

typedef struct tg_Packer tg_Packer;

/* One without a thread, which comes with the first block of the usual size: a
   short recording stays as it is. NULL without memory, and without the library,
   which is loaded here. Not with a mutex of atfork.h held. */
tg_Packer *tg_packer_new (void);

/* A full block, which is the packer's from now on. False: it is to stay. */
bool tg_packer_add (tg_Packer *p, const tg_Piece *full);

/* Maps 'size' bytes of the file as an empty piece; false: there are none. */
typedef bool tg_PackerGive (void *ud, size_t size, tg_Piece *empty);

/* By whoever has the file, when a block is needed: where the thread is far
   behind, since others have the processors, a block is packed here, at once. A
   millisecond of the program's, for a file that does not grow by what is
   empty. */
void tg_packer_help (tg_Packer *p, tg_PackerGive *give, void *ud);

/* An empty piece of 'size' bytes at least for events. The last one that there
   is the packer needs, if it is not 'urgent'; then it is waited for, too.
   False: there is none. */
bool tg_packer_take (tg_Packer *p, size_t size, bool urgent, tg_Piece *piece);

/* Bytes of room that the packer waits for; 0: it has what it needs. */
size_t tg_packer_wants (tg_Packer *p);

/* An empty piece, as tg_block_begin has it: a room from now on. */
void tg_packer_give (tg_Packer *p, const tg_Piece *empty);

/* There will be no more room. */
void tg_packer_refuse (tg_Packer *p);

/*
** Ends the thread. What still waits is packed here, at once, into the rooms
** that there are and into what 'give' maps, which may be NULL. No block is
** taken after it.
*/
void tg_packer_finish (tg_Packer *p, tg_PackerGive *give, void *ud);

/* After that: packs a block that others may still read, which stays where it
   is. False: it is not packed. */
bool tg_packer_copy (tg_Packer *p, const tg_Block *full);

/* After that: the rooms, for whoever closes the file. */
tg_Rooms *tg_packer_rooms (tg_Packer *p);

/* Lets go of all pieces, also in a forked child, where there is no thread. NULL
   is fine. */
void tg_packer_free (tg_Packer *p);

#endif
