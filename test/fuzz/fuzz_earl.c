/* SPDX-License-Identifier: MIT */
/* Any packets into the inbox of a process of Earl, from another that lies: of any kind, source, id, length and total, between
 * receives, claims, probes, sends and ends. Whatever comes, nothing is read or written out of bounds, each packet is given
 * back, and each receive ends once its source has. The input is commands, a byte each, with their arguments behind. */
#include <stdlib.h>

#include "double.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

enum { PROCESSES = 3, MOST = 64, ROOM = 100 };
enum { BYTES, MADE, RECEIVE, CLAIM, CLAIMED, TAKE, SEND, TEST, CANCEL, END, COMMANDS };

static const uint8_t *input, *input_end;
static struct double_world world;
static struct earl own; /* process 0 */
static earl_request requests[MOST];
static unsigned char *rooms[MOST]; /* of receives; each of its exact length */
static int count;

static void must(bool holds)
{
    if (!holds)
        abort();
}

static unsigned next(void)
{
    return input < input_end ? *input++ : 0;
}

static void come(const unsigned char *bytes, size_t length, int ended)
{
    struct double_packet *packet =
        (struct double_packet *)double_target.allocate(&world.boxes[0], length, EARL_MUST);
    if (length != 0)
        memcpy(packet->bytes, bytes, length);
    packet->ended = ended;
    double_target.put(&world.boxes[0], 0, (earl_packet)packet, false, EARL_NOW);
}

/* Nothing would come any more: all end, and with them what waits for them; also for what is said to be of process 0 itself. */
static void all_end(void *data)
{
    (void)data;
    for (int i = 0; i < PROCESSES; i++)
        come(NULL, 0, i);
}

static void come_bytes(void)
{
    size_t length = next();
    if (length > (size_t)(input_end - input))
        length = (size_t)(input_end - input);
    come(input, length, -1);
    input += length;
}

/* One whose head makes some sense. */
static void come_made(void)
{
    unsigned char packet[EARL_HEAD_FIRST + 255] = {0};
    const unsigned kind = next(), source = next() % (PROCESSES + 1), tag = next() % 4, id = next() % 8;
    const unsigned data = next(), shift = next() % 64;
    const uint64_t total = (uint64_t)next() << shift;
    earl_head_write(packet, kind % 6 | (kind & 0x80) << 1 | (kind & 0x70) << 12, next() % 2, source,
                    kind % 6 >= EARL_MORE ? id : tag);
    earl_first_write(packet, id | (kind & 8) << 28, next() % 2, total);
    for (size_t i = 0; i < data; i++)
        packet[EARL_HEAD_FIRST + i] = (unsigned char)i;
    come(packet, (kind % 6 == EARL_FIRST ? EARL_HEAD_FIRST : EARL_HEAD) + data, -1);
}

static int has_even_tag(const struct earl_envelope *envelope, void *argument)
{
    (void)argument;
    return envelope->tag % 2 == 0;
}

static struct earl_wanted some_wanted(void)
{
    const unsigned byte = next();
    return (struct earl_wanted){byte & 1, (int)(byte >> 1 & 3) - 1, (int)(byte >> 3 & 3) - 1,
                                (byte & 32) != 0 ? has_even_tag : NULL, NULL};
}

static void keep(earl_request request, unsigned char *room)
{
    requests[count] = request;
    rooms[count++] = room;
}

static void receive(void)
{
    const struct earl_wanted wanted = some_wanted();
    const size_t length = next() % ROOM;
    unsigned char *room = malloc(length + 1);
    must(room != NULL);
    const earl_request request = earl_do_ireceive(&own, &wanted, length == 0 ? NULL : room, length);
    must(request > 0);
    keep(request, room);
}

static void claim(void)
{
    const struct earl_wanted wanted = some_wanted();
    struct earl_envelope envelope;
    const int result = earl_do_claim(&own, &wanted, false, &envelope);
    must(result >= 0 && (result == 0 || envelope.length >= 0));
    if (result > 0)
        keep(result, NULL);
}

/* Receives as a buffer what there is, and takes out what it has of each type in turn. */
static void take(void)
{
    const struct earl_wanted wanted = some_wanted();
    earl_buffer *buffer;
    long long items[2 * ROOM];
    const int result = earl_do_buffer_receive(&own, &wanted, false, &buffer, NULL);
    must(result == 0 || result == 1 || result == EARL_E_ENDED);
    if (result != 1)
        return;
    for (int type = EARL_BYTE; type <= EARL_DCOMPLEX; type++)
        (void)earl_do_unpack(buffer, (enum earl_type)type, items, next() % ROOM, 1);
    earl_do_buffer_free(&own, buffer);
}

static void send(void)
{
    static const unsigned char data[20000];
    const unsigned byte = next();
    const earl_request request =
        earl_do_isend(&own, (int)(byte % PROCESSES), byte >> 2 & 1, (int)(byte >> 3 & 3), data,
                      (byte & 64) != 0 ? sizeof data : 5, (byte & 128) != 0);
    must(request > 0 || request == EARL_E_ENDED);
    if (request > 0)
        keep(request, NULL);
}

/* Something with a request, be it of another kind. */
static void use(unsigned command)
{
    unsigned char room[ROOM];
    if (count == 0)
        return;
    const earl_request request = requests[next() % (unsigned)count];
    if (command == CLAIMED)
        (void)earl_do_claimed(&own, request, room, next() % ROOM);
    else if (command == TEST)
        (void)earl_do_test(&own, request, false, NULL);
    else
        (void)earl_do_cancel(&own, request);
}

static void run(unsigned command)
{
    switch (command % COMMANDS) {
    case BYTES: come_bytes(); break;
    case MADE: come_made(); break;
    case RECEIVE: receive(); break;
    case CLAIM: claim(); break;
    case TAKE: take(); break;
    case SEND: send(); break;
    case END: come(NULL, 0, 1 + (int)(next() % (PROCESSES - 1))); break;
    default: use(command % COMMANDS); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    input = bytes;
    input_end = bytes + length;
    count = 0;
    double_begin(&world, PROCESSES);
    world.idle = all_end;
    must(earl_process_begin(&own, &double_target, &world.boxes[0], "fuzz") == EARL_OK);
    while (input < input_end && count < MOST) {
        run(next());
        must(earl_look(&own) >= 0);
    }
    all_end(NULL);
    must(earl_look(&own) >= 0);
    earl_process_end(&own);
    double_end(&world);
    must(world.packets == 0);
    for (int i = 0; i < count; i++)
        free(rooms[i]);
    return 0;
}
