/* A server with one seat, of which a greedy tenant wants six turns and a small one two: in
 * which order they are served.
 *
 *     cargo build --release -p fairq-c
 *     cc -I crates/c/include crates/c/examples/tenants.c target/release/libfairq.a \
 *         -lpthread -ldl -lm -o tenants
 */
#include <fairq_dispatcher.h>
#include <stdio.h>

enum { GREEDY = 1, SMALL = 2 };

static int serve(const char *policy)
{
    struct fairq_seats seats = {.seats = 1};
    struct fairq_dispatcher *server;
    struct fairq_started started;
    char message[200];
    if (fairq_dispatcher_new(policy, &seats, &server, message, sizeof message) != FAIRQ_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    /* The number of an item finds your request again; here it is not needed. */
    for (uint64_t item = 0; item < 8; item++)
        fairq_dispatcher_push(server, 0, item < 6 ? GREEDY : SMALL, item, NULL, NULL);
    while (fairq_dispatcher_start(server, 0, &started) == FAIRQ_OK) {
        printf(started.tenant == GREEDY ? " g" : " s");
        /* Here the item is done. What it cost is known now. */
        fairq_dispatcher_complete(server, started.ticket, 10);
    }
    printf("\n");
    fairq_dispatcher_free(server);
    return 0;
}

int main(void)
{
    printf("fcfs: ");
    if (serve("fcfs"))
        return 1;
    printf("sfq_d:");
    return serve("sfq_d");
}
