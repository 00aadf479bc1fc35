/* fairq: queueing disciplines for C. Link with libfairq.a.
 *
 * A discipline has no clock, no I/O and no thread: time is an argument, your bytes stay with you,
 * and what becomes of a packet is returned. Your driver
 *
 *   1. offers what arrives with fairq_enqueue,
 *   2. asks fairq_dequeue when the line is free, also when a transmission ends and nothing waits,
 *   3. after each of the two takes the fates with fairq_fates until there are none,
 *   4. runs fairq_update when fairq_next_update says so.
 *
 * Every function that returns int answers with zero or a positive FAIRQ_ code, or refuses with a
 * negative one and then has done nothing. A NULL where something is needed is refused. Other
 * pointers must be valid and aligned. A discipline may be handed from thread to thread, but only
 * one may use it at a time.
 */
#ifndef FAIRQ_H
#define FAIRQ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Answers. */
#define FAIRQ_OK 0         /* done; of fairq_enqueue: the packet is held */
#define FAIRQ_DROPPED 1    /* fairq_enqueue: the packet is not held, see its fate */
#define FAIRQ_SEND 2       /* fairq_dequeue: send this packet now */
#define FAIRQ_NOT_BEFORE 3 /* fairq_dequeue: packets are held, but none may leave before a time */
#define FAIRQ_EMPTY 4      /* fairq_dequeue: nothing is held, the line is idle from now */
#define FAIRQ_NONE 5       /* there is no such packet, or no update to run */

/* Refusals; fairq_message says them in words. */
#define FAIRQ_ERROR_NULL (-1)
#define FAIRQ_ERROR_TEXT (-2)
#define FAIRQ_ERROR_RATE (-3)
#define FAIRQ_ERROR_WEIGHT (-4)
#define FAIRQ_ERROR_ADDRESS (-5)
#define FAIRQ_ERROR_TIME (-6)
#define FAIRQ_ERROR_BROKEN (-7)
#define FAIRQ_ERROR_CHANGE (-8)

/* What kind of address the bytes hold, beginning with the first. */
#define FAIRQ_NODE 0 /* 4 bytes: a number, most significant byte first */
#define FAIRQ_IPV4 1 /* 4 bytes */
#define FAIRQ_IPV6 2 /* 16 bytes */
#define FAIRQ_MAC 3  /* 6 bytes */

/* Congestion marks, a set of bits. */
#define FAIRQ_MARK_DEC 1 /* DECbit */
#define FAIRQ_MARK_FQ 2  /* the bit of the fair queueing gateway of 1990 */
#define FAIRQ_MARK_CE 4  /* ECN: congestion experienced */

/* Outcomes of a fate. */
#define FAIRQ_FATE_DROPPED 1
#define FAIRQ_FATE_MARKED 2

/* Units of a reading. */
#define FAIRQ_UNIT_NONE 0 /* a number of things that the name says, or a ratio */
#define FAIRQ_UNIT_PACKETS 1
#define FAIRQ_UNIT_BYTES 2
#define FAIRQ_UNIT_SECONDS 3
#define FAIRQ_UNIT_BIT_PER_S 4

/* Kinds of value of a reading. */
#define FAIRQ_VALUE_COUNT 1 /* a whole number: `count` */
#define FAIRQ_VALUE_REAL 2  /* any other number: `real` */

/* Times are picoseconds since a moment of your choice, at most this: 53 days. */
#define FAIRQ_TIME_MAX 4611686018427387903

struct fairq_address {
    uint8_t kind; /* FAIRQ_NODE, FAIRQ_IPV4, FAIRQ_IPV6 or FAIRQ_MAC */
    uint8_t bytes[16];
};

/* The fields by which packets are told apart. */
struct fairq_header {
    struct fairq_address source;
    struct fairq_address destination;
    uint16_t protocol; /* the IP protocol number */
    uint16_t source_port;
    uint16_t destination_port;
    uint8_t tos; /* the whole type-of-service byte */
};

struct fairq_packet {
    uint64_t token;       /* your name for the packet */
    uint64_t arrival_ps;  /* set by fairq_enqueue */
    uint64_t deadline_ps; /* when it should have left the network; 0 if it does not matter */
    uint32_t length;      /* bytes on the line */
    uint32_t remaining;   /* what its flow has still to send with it, in bytes; 0 if not known */
    uint8_t marks;        /* the marks it carries */
    uint8_t accepts;      /* the marks it may be given */
    uint8_t tos;          /* the type-of-service byte */
};

/* What became of a packet other than being sent; it need not be the one just offered. */
struct fairq_fate {
    struct fairq_packet packet;
    uint8_t outcome; /* FAIRQ_FATE_DROPPED: it is no longer held; FAIRQ_FATE_MARKED: it is */
    uint8_t marks;   /* the marks it was given */
    char reason[30]; /* why it was dropped, like "longest_queue"; ends with a zero */
};

/* A number that a discipline shows of itself, as `tc -s` does. */
struct fairq_reading {
    char name[32];     /* what it is of, like "backlogged_queues"; ends with a zero */
    char subqueue[64]; /* the queue, class or tin of which it is, empty if it is of the whole
                        * discipline; ends with a zero, a longer name is cut */
    double real;       /* the number, of either kind */
    uint64_t count;    /* the same, exact, if it is a count; UINT64_MAX if it is greater */
    uint32_t flow;     /* if has_flow: the flow of which it is, by its number in the discipline */
    uint8_t has_flow;  /* 1 or 0 */
    uint8_t unit;      /* FAIRQ_UNIT_... */
    uint8_t kind;      /* FAIRQ_VALUE_COUNT or FAIRQ_VALUE_REAL */
};

/* The weight of the flow to which a header belongs, in thousandths, from 1 to 1000000000; others
 * have 1000. */
struct fairq_weight {
    struct fairq_header header;
    uint32_t thousandths;
};

struct fairq_line {
    uint64_t bit_per_s;                 /* the nominal rate, above zero and at most 10 Tbit/s */
    uint64_t seed;                      /* of everything random or hashed inside */
    const struct fairq_weight *weights; /* may be NULL if there are none */
    size_t weights_count;
};

/* A discipline. */
struct fairq;

/* Builds the discipline of a text: up to four parts by name, each with settings in brackets or the
 * default ones, and a limit, joined by `+`, like "drr(quantum=3000B) + codel + pair + 40 packets",
 * "fifo + 64 kB" or "fq"; without a limit memory is the only one. The settings of a part are those
 * of a scenario, as `fairq explain NAME` shows them.
 * On success *queue is the discipline, to be freed with fairq_free. On refusal *queue is NULL and,
 * unless message is NULL, message holds one line that says why, cut to size bytes with its closing
 * zero. */
int fairq_new(const char *text, const struct fairq_line *line, struct fairq **queue, char *message, size_t size);

/* Frees the discipline and what it holds. NULL is allowed. */
void fairq_free(struct fairq *queue);

/* Offers a packet at `now`, which never goes back from call to call. It is held (FAIRQ_OK) or not
 * (FAIRQ_DROPPED). Unless handle is NULL, *handle names a packet that is held, for fairq_remove. */
int fairq_enqueue(struct fairq *queue, uint64_t now, const struct fairq_packet *packet,
                  const struct fairq_header *header, uint64_t *handle);

/* Asks for the next packet; a transmission that was going on has ended. FAIRQ_SEND sets *packet,
 * FAIRQ_NOT_BEFORE sets *not_before, FAIRQ_EMPTY sets nothing. */
int fairq_dequeue(struct fairq *queue, uint64_t now, struct fairq_packet *packet, uint64_t *not_before);

/* Moves up to `count` fates to `fates`, oldest first, and returns how many. Those left are kept for
 * the next call. */
size_t fairq_fates(struct fairq *queue, struct fairq_fate *fates, size_t count);

/* Writes what the discipline shows of itself at `now`, up to `count` readings, and returns how many
 * there are, which may be more: with NULL for `readings` only that. Nothing of the discipline
 * changes. 0 if it shows none, and where other functions refuse. */
size_t fairq_readings(struct fairq *queue, uint64_t now, struct fairq_reading *readings, size_t count);

/* FAIRQ_OK and when fairq_update must be called next, or FAIRQ_NONE. May change with every other
 * call. */
int fairq_next_update(struct fairq *queue, uint64_t *when);

/* Runs what is due at `now`; calling it too early does no harm. */
int fairq_update(struct fairq *queue, uint64_t now);

/* How many packets wait, and their bytes. */
int fairq_held(struct fairq *queue, uint64_t *packets, uint64_t *bytes);

/* Takes a held packet out and hands it back in *packet; its fate is not reported. The handle is one
 * that fairq_enqueue of this discipline gave; FAIRQ_NONE if its packet is no longer held. */
int fairq_remove(struct fairq *queue, uint64_t now, uint64_t handle, struct fairq_packet *packet);

/* Sets the line's rate from now on. */
int fairq_set_rate(struct fairq *queue, uint64_t now, uint64_t bit_per_s);

/* Sets the weight of the flow to which `header` belongs from now on; FAIRQ_ERROR_CHANGE if the
 * discipline does not go by weights. */
int fairq_set_weight(struct fairq *queue, uint64_t now, const struct fairq_header *header, uint32_t thousandths);

/* What an answer or a refusal means, in one line; never NULL and never to be freed. */
const char *fairq_message(int code);

#ifdef __cplusplus
}
#endif

#endif
