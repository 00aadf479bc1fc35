/* A line of 1 Mbit/s that two flows share. The first floods it, the second sends a small packet now and then.
 *
 *     cargo build --release -p fairq-c
 *     cc -I crates/c/include crates/c/examples/two_flows.c target/release/libfairq.a -lpthread -ldl -lm -o two_flows
 */
#include <fairq.h>
#include <stdio.h>

enum { FLOOD = 1, SPARSE = 2 };
#define MILLISECOND 1000000000ull /* in picoseconds */

static struct fairq_header from(uint8_t host)
{
    struct fairq_header header = {
        .source = {FAIRQ_IPV4, {10, 0, 0, host}},
        .destination = {FAIRQ_IPV4, {10, 0, 0, 9}},
        .protocol = 17,
    };
    return header;
}

/* Whatever is refused is told. */
static int checked(int code)
{
    if (code < 0)
        fprintf(stderr, "fairq: %s\n", fairq_message(code));
    return code;
}

/* After each call that may drop: these packets are yours again. Here they are counted. */
static unsigned lost(struct fairq *queue)
{
    struct fairq_fate fates[8];
    unsigned count = 0;
    size_t taken;
    while ((taken = fairq_fates(queue, fates, 8)) > 0)
        for (size_t i = 0; i < taken; i++)
            if (fates[i].outcome == FAIRQ_FATE_DROPPED)
                count++;
    return count;
}

/* What the discipline shows of itself; a FIFO shows nothing. */
static void tell(struct fairq *queue, uint64_t now)
{
    static const char *const units[] = {"", " packets", " bytes", " s", " bit/s"};
    struct fairq_reading readings[16];
    size_t count = fairq_readings(queue, now, readings, 16);
    for (size_t i = 0; i < count && i < 16; i++)
        printf("  %s %g%s\n", readings[i].name, readings[i].real, units[readings[i].unit]);
}

static int run(const char *text)
{
    struct fairq_line line = {.bit_per_s = 1000000, .seed = 1};
    struct fairq *queue;
    char message[200];
    if (fairq_new(text, &line, &queue, message, sizeof message) != FAIRQ_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }

    unsigned sent[3] = {0}, dropped = 0;
    uint64_t wait_max[3] = {0}; /* from arrival to the start of the transmission */
    uint64_t free_at = 0;       /* when the line has sent what it is sending */
    uint64_t token = 0;

    for (uint64_t now = 0; now < 1000 * MILLISECOND; now += MILLISECOND) {
        /* What arrives: a packet of 1000 bytes each millisecond is eight times what the line carries. */
        for (uint8_t flow = FLOOD; flow <= SPARSE; flow++) {
            if (flow == SPARSE && now % (50 * MILLISECOND) != 0)
                continue;
            /* The token is what you find your packet by; here it only tells the flow. */
            struct fairq_packet packet = {.token = (token++ << 8) | flow, .length = flow == FLOOD ? 1000 : 100};
            struct fairq_header header = from(flow);
            if (checked(fairq_enqueue(queue, now, &packet, &header, NULL)) < 0)
                return 1;
            dropped += lost(queue);
        }
        /* What leaves until the next arrival. */
        while (free_at <= now) {
            struct fairq_packet packet;
            uint64_t not_before;
            int answer = checked(fairq_dequeue(queue, now, &packet, &not_before));
            dropped += lost(queue);
            if (answer == FAIRQ_NOT_BEFORE) {
                free_at = not_before;
            } else if (answer == FAIRQ_SEND) {
                unsigned flow = packet.token & 0xff;
                uint64_t wait = now - packet.arrival_ps;
                sent[flow]++;
                if (wait > wait_max[flow])
                    wait_max[flow] = wait;
                free_at = now + packet.length * 8 * 1000000ull; /* a bit takes a microsecond */
            } else {
                break;
            }
        }
    }

    uint64_t packets, bytes;
    if (checked(fairq_held(queue, &packets, &bytes)) < 0)
        return 1;
    printf("%s\n", text);
    printf("  flood   sent %4u  longest wait %4u ms\n", sent[FLOOD], (unsigned)(wait_max[FLOOD] / MILLISECOND));
    printf("  sparse  sent %4u  longest wait %4u ms\n", sent[SPARSE], (unsigned)(wait_max[SPARSE] / MILLISECOND));
    printf("  dropped %u, held %u packets of %u bytes\n", dropped, (unsigned)packets, (unsigned)bytes);
    tell(queue, 1000 * MILLISECOND);
    fairq_free(queue);
    return 0;
}

int main(void)
{
    return run("fifo + 20 packets") || run("fq + longest_queue_drop + pair + 20 packets");
}
