/*
** test_packed.c - recordings whose blocks are packed: read again, whole and
** while they are written; with bytes that are not what they were; and libzstd
** itself. Without the library there is nothing to be seen here.
*/
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture.h"
#include "channel/blockstream.h"
#include "reader/reader.h"
#include "recording/filewriter.h"
#include "recording/open.h"
#include "recording/packedblock.h"
#include "recording/shelf.h"
#include "text/fileio.h"
#include "text/zstd.h"
#include "unit.h"

#define CHUNKS 20u

#define A_SHORT_ONE "\x01\x41" "a"         /* lists of values (values.h) */
#define A_LONG_STRING "\x01\x07\x03\x03" "abc"

static char path[64];

static tg_Recording *open_it (void) {
  char reason[160] = "";
  tg_Status status;
  tg_Recording *r = tg_recording_open(path, &status, reason, sizeof reason);
  UNIT_CHECK((r != NULL) == (status == TG_OK));
  return r;
}

/* A chunk with calls of 'f' that return, one after the other. What their lists
   cost differs. */
static void write_chunk (Tape *t, tg_FunctionId f, uint64_t *packets) {
  static const uint32_t main_thread[] = {1, 0};
  t->chunk = tg_store_grow(&t->stream->store, 1, *packets);
  UNIT_CHECK(t->chunk != NULL);
  t->p = t->chunk->block->data;
  e_context(t, *packets * 10, 1, main_thread);
  size_t room = t->chunk->size - sizeof(tg_Block);
  while ((size_t)(t->p - t->chunk->block->data) + 64 < room) {
    e_call(t, f, 0, *packets % 3 == 0 ? A_LONG_STRING : A_SHORT_ONE);
    e_return(t);
    *packets += 2;
  }
}

static tg_Reader *reader_of (tg_Recording *r) {
  tg_Selection d = {0};
  tg_Options o;
  tg_options_init(&o);
  tg_selection_add(&d, &o);
  tg_Reader *reader = tg_reader_new(r->stream, 0, &d);
  tg_selection_clear(&d);
  tg_options_free(&o);
  return reader;
}

/* Packets that can be read, one after the other. */
static uint64_t count (tg_Recording *r) {
  tg_Packet p;
  uint64_t n = 0;
  tg_Reader *reader = reader_of(r);
  while (reader != NULL && tg_reader_next(reader, r->end, &p))
    UNIT_CHECK(p.sequence == n++);
  tg_reader_free(reader);
  return n;
}

/* A recording at 'path' of many chunks; how many packets it has. */
static uint64_t record_as (bool packs) {
  tg_FilePlan plan = {.path = path, .packs = packs};
  Tape t = {tg_stream_new(), NULL, NULL};
  uint64_t packets = 0;
  tg_FunctionId f = define(t.stream, "f", 1);
  t.stream->clock = (tg_Clock){0, 1.0};
  t.stream->costs.ticks[TG_COST_VALUES] = 3;
  t.stream->costs.ticks[TG_COST_STRING] = 4;
  tg_FileWriter *file = tg_filewriter_new(&plan, t.stream);
  UNIT_CHECK(file != NULL);
  for (uint32_t i = 0; i < CHUNKS; i++) {
    write_chunk(&t, f, &packets);
    if (i % 7 == 0) {
      tg_Recording *r = open_it();          /* while it is written */
      UNIT_CHECK(r != NULL && r->busy && !r->damaged && count(r) == packets);
      tg_recording_close(r);
    }
  }
  tg_filewriter_close(file);
  tg_stream_unpin(t.stream);
  return packets;
}

static uint64_t record (void) {
  return record_as(true);
}

static void read_again (void) {
  uint64_t packets = record();
  tg_Recording *r = open_it();
  UNIT_CHECK(!r->busy && !r->damaged && r->header.packed == 1);
  UNIT_CHECK(count(r) == packets);
  UNIT_CHECK(r->saved_bytes > r->event_bytes / 2);
  UNIT_CHECK(r->file_bytes < r->event_bytes / 2);
  tg_recording_close(r);
}

/* The second one begins in the midst of what the first one reads, and ends when
   that has still to go on: each expects other blocks than the other one. */
static void two_readers_at_once (void) {
  uint64_t packets = record(), n = 0, m = 0;
  tg_Packet p;
  tg_Recording *r = open_it();
  tg_Reader *first = reader_of(r), *second = reader_of(r);
  while (tg_reader_next(first, r->end, &p)) {
    UNIT_CHECK(p.sequence == n++);
    if (n < packets / 3 || m >= packets / 2)
      continue;
    UNIT_CHECK(tg_reader_next(second, r->end, &p) && p.sequence == m++);
  }
  UNIT_CHECK(n == packets && m == packets / 2);
  tg_reader_free(first);
  tg_reader_free(second);
  tg_recording_close(r);
}

/* Whether lists of some block were counted before the cursor came to it, which
   waits a moment in each. */
static bool some_are_counted (uint64_t wait_us) {
  tg_Cursor c;
  bool some = false;
  tg_Recording *r = open_it();
  UNIT_CHECK(tg_cursor_first(&c, &r->stream->store));
  UNIT_CHECK(tg_cursor_prices(&c).count == 0);
  while (!some && tg_cursor_advance(&c)) {
    tg_Prices p = tg_cursor_prices(&c);
    some = p.count > 0;
    UNIT_CHECK(!some || *p.list >= 3);
    usleep((useconds_t)wait_us);
  }
  tg_cursor_drop(&c);
  tg_recording_close(r);
  return some;
}

/* What lists cost is counted with the blocks that are expected, where there is
   a thread for it that has time; of others whoever reads counts it. */
static void lists_are_counted_ahead (void) {
  uint64_t wait_us = 1000;
  record();
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
    UNIT_CHECK(!some_are_counted(0));
  else
    while (wait_us < 1000000 && !some_are_counted(wait_us))
      wait_us *= 2;
  UNIT_CHECK(wait_us < 1000000);
}

/* All times of the recording, in one number. */
static uint64_t times_of (uint64_t packets, uint64_t *spent) {
  tg_Packet p;
  uint64_t sum = 0, n = 0;
  tg_Recording *r = open_it();
  tg_Reader *reader = reader_of(r);
  tg_reader_correct(reader);
  for (; tg_reader_next(reader, r->end, &p); n++)
    sum = 31 * sum + p.time_ns;
  *spent = tg_reader_spent(reader);
  UNIT_CHECK(n == packets && *spent > 0);
  tg_reader_free(reader);
  tg_recording_close(r);
  return sum;
}

/* Of blocks that are not packed nothing is counted ahead. */
static void lists_cost_the_same_either_way (void) {
  uint64_t ahead_spent, spent;
  uint64_t ahead = times_of(record(), &ahead_spent);
  UNIT_CHECK(times_of(record_as(false), &spent) == ahead);
  UNIT_CHECK(spent == ahead_spent);
}

/* Who has opened it while it was written reads it when it is closed: blocks may
   have moved, and the file is shorter. */
static void closed_meanwhile (void) {
  tg_FilePlan plan = {.path = path, .packs = true};
  Tape t = {tg_stream_new(), NULL, NULL};
  uint64_t packets = 0;
  tg_FunctionId f = define(t.stream, "f", 1);
  tg_FileWriter *file = tg_filewriter_new(&plan, t.stream);
  UNIT_CHECK(file != NULL);
  for (uint32_t i = 0; i < CHUNKS; i++)
    write_chunk(&t, f, &packets);
  tg_Recording *r = open_it();
  UNIT_CHECK(r != NULL && r->busy);
  tg_filewriter_close(file);
  tg_stream_unpin(t.stream);
  UNIT_CHECK(count(r) == packets);
  tg_recording_close(r);
}

/* Where the first block is that is packed. */
static uint64_t find_packed (int fd) {
  tg_Block head;
  uint64_t place = TG_HEADER_SIZE;
  while (tg_fileio_read(fd, &head, sizeof head, place)
         && head.magic == TG_BLOCK_MAGIC && head.kind != TG_BLOCK_PACKED)
    place += head.size;
  UNIT_CHECK(head.kind == TG_BLOCK_PACKED);
  return place;
}

static void change (int fd, uint64_t place, const void *data, size_t size) {
  UNIT_CHECK(pwrite(fd, data, size, (off_t)place) == (ssize_t)size);
}

/* Bytes that cannot be unpacked end what is read. */
static void damaged_bytes (void) {
  uint64_t packets = record();
  int fd = open(path, O_RDWR);
  uint64_t place = find_packed(fd);
  change(fd, place + sizeof(tg_Block) + 100, "xxxxxxxx", 8);
  tg_Recording *r = open_it();
  UNIT_CHECK(r != NULL && count(r) < packets);
  tg_recording_close(r);
  close(fd);
}

/* A block that says that it stands for more than is believed is none, and no
   memory is asked for. */
static void said_sizes (void) {
  static const uint32_t sizes[] = {0, 1, 0x7fffffff, 0xffffffff};
  uint64_t packets = record();
  int fd = open(path, O_RDWR);
  uint64_t place = find_packed(fd) + offsetof(tg_Block, unpacked);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    change(fd, place, &sizes[i], sizeof sizes[i]);
    tg_Recording *r = open_it();
    UNIT_CHECK(r != NULL && count(r) < packets);
    tg_recording_close(r);
  }
  close(fd);
}

/*
** {==================================================================
** The data of one block
** ===================================================================
*/

#define EVENTS 4000u
#define COLUMNS_HEAD 36u          /* docs/recording.md */

/* Short calls and returns, whose times are noise. */
static size_t write_events (uint8_t *data) {
  uint64_t seed = 1;
  uint8_t *p = data;
  for (uint32_t i = 0; i < EVENTS; i++) {
    *p++ = i % 2 ? TG_EV_RETURN | TG_EVF_SHORT | TG_EVF_NOTHING : TG_EVF_VALUES;
    p = tg_put16(p, unit_random(&seed) & TG_SHORT_MAX);
    if (i % 2 != 0)
      continue;
    p = tg_put16(p, i % 7);
    p = tg_putvar(p, 2);
    p = tg_put16(p, i % 300);
  }
  return (size_t)(p - data);
}

/* Whether what is in a file of these bytes stands for the data. */
static bool stands_for (tg_Unpacking *u, const uint8_t *packed, size_t n,
                        const uint8_t *data, size_t size) {
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  uint8_t *back = tg_malloc(size);
  change(fd, sizeof(tg_Block), packed, n);
  bool good = tg_packedblock_data(u, fd, 0, n, back, size);
  UNIT_CHECK(good || errno == EBADMSG);
  good = good && memcmp(back, data, size) == 0;
  tg_free(back);
  close(fd);
  return good;
}

static void in_columns_or_as_they_are (void) {
  tg_Packing p = {0};
  tg_Unpacking u = {0};
  uint8_t data[EVENTS * 8], frame[EVENTS * 9];
  size_t size = write_events(data);
  size_t n = tg_packing_pack(&p, data, size);
  size_t whole = tg_zstd_pack(&p.zstd, data, size, frame, sizeof frame);
  UNIT_CHECK(n > 0 && n < whole && tg_get32(p.packed.data) == 1);
  UNIT_CHECK(stands_for(&u, p.packed.data, n, data, size));
  UNIT_CHECK(stands_for(&u, frame, whole, data, size));
  memset(data, 0, size / 2);                /* no event */
  n = tg_packing_pack(&p, data, size);
  UNIT_CHECK(n > 0 && tg_get32(p.packed.data) != 1);
  UNIT_CHECK(stands_for(&u, p.packed.data, n, data, size));
  tg_packing_free(&p);
  tg_packedblock_free(&u);
}

/* Columns take memory beside the block's, which a file is not to choose. */
static void more_than_a_usual_block_is_one_frame (void) {
  tg_Packing p = {0};
  tg_Unpacking u = {0};
  size_t size = 0, most = TG_BLOCK_UNPACKED + EVENTS * 8;
  uint8_t *data = tg_malloc(most);
  while (size <= TG_BLOCK_UNPACKED)
    size += write_events(data + size);
  size_t n = tg_packing_pack(&p, data, size);
  UNIT_CHECK(n > 0 && tg_get32(p.packed.data) != 1);
  UNIT_CHECK(stands_for(&u, p.packed.data, n, data, size));
  tg_free(data);
  tg_packing_free(&p);
  tg_packedblock_free(&u);
}

/* Each byte of the sizes, and some of the frames: the checksums tell. */
static void other_bytes_stand_for_nothing (void) {
  tg_Packing p = {0};
  tg_Unpacking u = {0};
  uint8_t data[EVENTS * 8], *packed;
  size_t size = write_events(data), n = tg_packing_pack(&p, data, size);
  packed = p.packed.data;
  for (size_t i = 0; i < n; i += i < COLUMNS_HEAD + 20 ? 1 : n / 20) {
    for (uint32_t bit = 0; bit < 8; bit += 3) {
      packed[i] ^= (uint8_t)(1u << bit);
      UNIT_CHECK(!stands_for(&u, packed, n, data, size));
      packed[i] ^= (uint8_t)(1u << bit);
    }
  }
  UNIT_CHECK(!stands_for(&u, packed, n - 1, data, size));
  UNIT_CHECK(!stands_for(&u, packed, COLUMNS_HEAD, data, size));
  UNIT_CHECK(!stands_for(&u, packed, COLUMNS_HEAD - 1, data, size));
  UNIT_CHECK(!stands_for(&u, packed, n, data, size - 1));
  UNIT_CHECK(stands_for(&u, packed, n, data, size));
  tg_packing_free(&p);
  tg_packedblock_free(&u);
}

/* }================================================================== */

/* ---- the library ---- */

static void there_and_back (void) {
  tg_Zstd z = {0};
  uint64_t seed = 1;
  enum {SIZE = 100000};
  uint8_t *bytes = tg_malloc(SIZE), *back = tg_malloc(SIZE);
  size_t bound = tg_zstd_bound(SIZE);
  uint8_t *packed = tg_malloc(bound);
  for (size_t i = 0; i < SIZE; i++)
    bytes[i] = (uint8_t)(unit_random(&seed) & 3);
  size_t n = tg_zstd_pack(&z, bytes, SIZE, packed, bound);
  UNIT_CHECK(n > 0 && n < SIZE / 2);
  UNIT_CHECK(tg_zstd_unpack(&z, packed, n, back, SIZE)
             && memcmp(bytes, back, SIZE) == 0);
  UNIT_CHECK(!tg_zstd_unpack(&z, packed, n, back, SIZE - 1));
  UNIT_CHECK(!tg_zstd_unpack(&z, packed, n - 1, back, SIZE));
  packed[n / 2] ^= 1;                       /* the checksum tells */
  UNIT_CHECK(!tg_zstd_unpack(&z, packed, n, back, SIZE));
  UNIT_CHECK(tg_zstd_pack(&z, bytes, SIZE, packed, 100) == 0);
  tg_free(bytes);
  tg_free(back);
  tg_free(packed);
  tg_zstd_free(&z);
}

/* Bytes that tell three bits each, and repeat nowhere; then again some that
   repeat, which are packed as if there had been no noise. */
static void noise_and_back (void) {
  enum {SIZE = 50000};
  tg_Zstd z = {0}, other = {0};
  uint64_t seed = 1;
  uint8_t noise[SIZE], packed[2 * SIZE], again[2 * SIZE], back[SIZE];
  const char *text = "some words that come again and again ";
  for (int i = 0; i < SIZE; i++)
    noise[i] = (uint8_t)(unit_random(&seed) % 8);
  for (int round = 0; round < 2; round++) {
    size_t n = tg_zstd_pack_noise(&z, noise, SIZE, packed, sizeof packed);
    UNIT_CHECK(n > SIZE * 3 / 8 && n < SIZE * 2 / 5);
    UNIT_CHECK(tg_zstd_unpack(&z, packed, n, back, SIZE));
    UNIT_CHECK(memcmp(back, noise, SIZE) == 0);
    for (size_t i = 0; i < SIZE; i++)
      back[i] = (uint8_t)text[i % strlen(text)];
    n = tg_zstd_pack(&z, back, SIZE, packed, sizeof packed);
    UNIT_CHECK(n < 200);
    UNIT_CHECK(tg_zstd_pack(&other, back, SIZE, again, sizeof again) == n);
    UNIT_CHECK(memcmp(again, packed, n) == 0);
  }
  tg_zstd_free(&z);
  tg_zstd_free(&other);
}

/* On the wire: one entry, or none if it would be longer. */
static void on_the_wire (void) {
  tg_Zstd z = {0};
  tg_Buf bytes = {0}, out = {0};
  for (uint32_t i = 0; i < 5000; i++)
    tg_buf_add(&bytes, "some text ", 10);
  UNIT_CHECK(tg_blockstream_pack(&z, &bytes, &out));
  size_t n = 0, head = 2 * sizeof(uint32_t);
  uint8_t *back = tg_blockstream_unpack(&z, (uint8_t *)out.data + head,
                                        out.size - head, &n);
  UNIT_CHECK(back != NULL && n == bytes.size
             && memcmp(back, bytes.data, n) == 0);
  tg_free(back);
  UNIT_CHECK(tg_blockstream_unpack(&z, (uint8_t *)out.data + head, 3, &n)
             == NULL);
  memset(out.data + head, 0xff, sizeof(uint32_t));
  UNIT_CHECK(tg_blockstream_unpack(&z, (uint8_t *)out.data + head,
                                   out.size - head, &n) == NULL);
  tg_buf_clear(&bytes);
  tg_buf_clear(&out);
  tg_buf_add(&bytes, "x", 1);
  UNIT_CHECK(!tg_blockstream_pack(&z, &bytes, &out) && out.size == 0);
  tg_buf_free(&bytes);
  tg_buf_free(&out);
  tg_zstd_free(&z);
}

/* A block of events with one byte of data, as a walk has copied it. */
static tg_Block *copied (tg_Pos base, uint8_t byte) {
  tg_Block *b = tg_malloc(sizeof *b + 1);
  UNIT_CHECK(b != NULL);
  tg_block_begin(b, TG_BLOCK_EVENTS, sizeof *b + 1, base, 0);
  b->data[0] = byte;
  tg_block_commit(b, b->data + 1);
  return b;
}

/* A walk may find one, and, when it looks again, the one that came there when
   the first was packed. */
static void blocks_that_were_at_one_place_in_turn_are_two (void) {
  tg_FoundBlock found[2];
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  tg_Supply *shelf = tg_shelf_new(fd);
  UNIT_CHECK(shelf != NULL);
  for (uint32_t i = 0; i < 2; i++)
    found[i] = (tg_FoundBlock){
      .base = 100 * i, .place = 8192, .used = 1, .turn = i,
      .copy = copied(100 * i, (uint8_t)(7 + i))};
  tg_BlockWalk walk = {.fd = fd, .moving = true, .list = found, .count = 2};
  UNIT_CHECK(tg_shelf_keep(shelf, &walk));
  for (uint32_t i = 0; i < 2; i++) {
    uint64_t place = tg_shelf_place(&found[i]);
    UNIT_CHECK((place & TG_SUPPLY_PLACE) == 8192);
    tg_Block *b = shelf->load(shelf, place, sizeof *b + 1);
    UNIT_CHECK(b != NULL && b->base == 100 * i && b->data[0] == 7 + i);
    shelf->release(shelf, b, sizeof *b + 1);
  }
  tg_supply_unpin(shelf);
  close(fd);
}

int main (void) {
  snprintf(path, sizeof path, "/tmp/tracegrip-packed-%ld", (long)getpid());
  UNIT_RUN(blocks_that_were_at_one_place_in_turn_are_two);
  if (tg_zstd_there()) {
    UNIT_RUN(read_again);
    UNIT_RUN(two_readers_at_once);
    UNIT_RUN(lists_are_counted_ahead);
    UNIT_RUN(lists_cost_the_same_either_way);
    UNIT_RUN(closed_meanwhile);
    UNIT_RUN(damaged_bytes);
    UNIT_RUN(said_sizes);
    UNIT_RUN(in_columns_or_as_they_are);
    UNIT_RUN(more_than_a_usual_block_is_one_frame);
    UNIT_RUN(other_bytes_stand_for_nothing);
    UNIT_RUN(there_and_back);
    UNIT_RUN(noise_and_back);
    UNIT_RUN(on_the_wire);
  }
  unlink(path);
  return UNIT_END();
}
