/* fairq: fair shares of a server, for C. Link with libfairq.a.
 *
 * A dispatcher says whose item starts next. It has no clock and no thread, and does not look at
 * your items: a tenant and an item are numbers of your own, a pointer cast to one for example.
 *
 *   1. Offer what comes with fairq_dispatcher_push.
 *   2. After each push and each end take what starts with fairq_dispatcher_start, until it answers
 *      FAIRQ_NONE, and do it.
 *   3. Tell its end with fairq_dispatcher_complete, _cancel or _give_up: its seat is taken until
 *      then.
 *
 * Costs are whole numbers of any unit, and need not be known before the end. Answers and refusals
 * are those of fairq.h; only one thread may use a dispatcher at a time.
 */
#ifndef FAIRQ_DISPATCHER_H
#define FAIRQ_DISPATCHER_H

#include <fairq.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why an item is not admitted. */
#define FAIRQ_REFUSED_TOO_WIDE 6         /* it asks for more seats than may be taken */
#define FAIRQ_REFUSED_FULL 7             /* too many items wait */
#define FAIRQ_REFUSED_TENANT_FULL 8      /* too many items of its tenant wait */
#define FAIRQ_REFUSED_TOO_MANY_TENANTS 9 /* too many tenants have items here */
#define FAIRQ_REFUSED_CLOSED 10          /* the dispatcher was closed */

/* An item's cost that is not known. */
#define FAIRQ_COST_UNKNOWN UINT64_MAX

struct fairq_dispatcher;

/* What a dispatcher may hold; a 0 is the default, in brackets. */
struct fairq_seats {
    uint32_t seats;                /* seats of the server (1) */
    uint32_t items_max;            /* items that wait at most (10000) */
    uint32_t items_per_tenant_max; /* items of a tenant that wait at most (100) */
    uint32_t tenants_max;          /* tenants that are known at most (100000) */
    uint64_t guess;                /* the cost of an item while none is known (1) */
};

/* What an item asks. */
struct fairq_ask {
    uint64_t cost;  /* what it is thought to cost, or FAIRQ_COST_UNKNOWN */
    uint64_t size;  /* the part of its service that is known at the door, as a prompt; or 0 */
    uint32_t seats; /* 0 counts as 1 */
};

/* Names an item from its admission to its end. One that is of no use any more does no harm. */
struct fairq_ticket {
    uint64_t serial;
    uint32_t index;
};

/* An item that starts now. */
struct fairq_started {
    struct fairq_ticket ticket;
    uint64_t tenant;
    uint64_t item;
    uint64_t waited; /* in the unit of the times that were told */
    uint32_t seats;
};

/* A dispatcher with the policy of a text, as "sfq_d" or "drr(quantum=10)"; `fairq list policies`
 * has them. With a negative answer *dispatcher is NULL and `message`, of `size` bytes, says why. */
int fairq_dispatcher_new(const char *policy, const struct fairq_seats *seats, struct fairq_dispatcher **dispatcher,
                         char *message, size_t size);
void fairq_dispatcher_free(struct fairq_dispatcher *dispatcher);

/* Admits an item: FAIRQ_OK, or FAIRQ_REFUSED_… and nothing has changed. With `ask` NULL it takes a
 * seat and its cost is not known; `ticket` may be NULL. */
int fairq_dispatcher_push(struct fairq_dispatcher *dispatcher, uint64_t now, uint64_t tenant, uint64_t item,
                          const struct fairq_ask *ask, struct fairq_ticket *ticket);

/* The next item that starts: FAIRQ_OK, or FAIRQ_NONE if none may. */
int fairq_dispatcher_start(struct fairq_dispatcher *dispatcher, uint64_t now, struct fairq_started *started);

/* A running item has had this cost up to now: FAIRQ_OK, or FAIRQ_NONE if none has this ticket. */
int fairq_dispatcher_progress(struct fairq_dispatcher *dispatcher, struct fairq_ticket ticket, uint64_t cost);

/* The end of a running item: FAIRQ_OK, or FAIRQ_NONE if none has this ticket. It is done and its
 * cost is told; it was given up after that cost; it is over and its cost is not known. */
int fairq_dispatcher_complete(struct fairq_dispatcher *dispatcher, struct fairq_ticket ticket, uint64_t cost);
int fairq_dispatcher_cancel(struct fairq_dispatcher *dispatcher, struct fairq_ticket ticket, uint64_t cost);
int fairq_dispatcher_give_up(struct fairq_dispatcher *dispatcher, struct fairq_ticket ticket);

/* Takes out an item that waits, and tells it: FAIRQ_OK, or FAIRQ_NONE if none has this ticket. */
int fairq_dispatcher_remove(struct fairq_dispatcher *dispatcher, struct fairq_ticket ticket, uint64_t *item);

/* The weight of a tenant from its next item on, in thousandths. */
int fairq_dispatcher_set_weight(struct fairq_dispatcher *dispatcher, uint64_t tenant, uint32_t thousandths);

/* The priority of a tenant for strict_priority, 0 unless set; greater is before. */
int fairq_dispatcher_set_priority(struct fairq_dispatcher *dispatcher, uint64_t tenant, uint32_t priority);

/* Nothing is admitted any more; what waits still starts. */
int fairq_dispatcher_close(struct fairq_dispatcher *dispatcher);

/* Takes out all items that wait, in the order of admission: how many they were. `items` is NULL, or
 * has room for fairq_dispatcher_waiting of them. */
int fairq_dispatcher_drain(struct fairq_dispatcher *dispatcher, uint64_t *items);

/* Items that wait, items that run, and seats that are taken; 0 for NULL. */
uint32_t fairq_dispatcher_waiting(const struct fairq_dispatcher *dispatcher);
uint32_t fairq_dispatcher_running(const struct fairq_dispatcher *dispatcher);
uint32_t fairq_dispatcher_seats_taken(const struct fairq_dispatcher *dispatcher);

#ifdef __cplusplus
}
#endif

#endif
