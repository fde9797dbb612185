/* SPDX-License-Identifier: MIT */
/* cable PID... -- the network between the hosts of a test, with all that networks do to packets.
 *
 * Host N, counted from 1, is the network namespace of the Nth process. It gets a device "cable" with the
 * address 10.178.0.N, and what it sends there comes here. A packet goes on to the host whose address it
 * has, unless the line between the two loses it. Each line of stdin changes lines, and is answered by
 * "ok":
 *
 *   FROM TO [WORD=NUMBER]...   the line from host FROM to host TO, or, where there is a *, all of those
 *       lost, doubled, spoilt, held     in a thousand; `held` packets come later than those behind them
 *       delay                           of each, in microseconds
 *       most                            bytes of a packet, with its IP head: larger ones are lost
 *       udp=1                           all this is for UDP only
 *   weather MSEC [udp=1]       every so often one line gets something else, drawn from BCR_TEST_SEED; 0: no more
 *
 * What is not named is 0. It ends with stdin. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    HOSTS_MAX = 64,
    WAITING_MAX = 2048,
    PACKET_MAX = 2048,
    HELD_NS = 5000000,
    NS_PER_US = 1000,
    NS_PER_MS = 1000000
};
#define NETWORK UINT32_C(0x0ab20000) /* 10.178.0.0 */

struct line {
    unsigned lost, doubled, spoilt, held, delay, most, udp;
};
struct waiting {
    uint64_t due;
    unsigned to;
    size_t bytes;
    uint8_t packet[PACKET_MAX];
};

static unsigned hosts;
static int device[HOSTS_MAX];
static struct line lines[HOSTS_MAX][HOSTS_MAX];
static struct waiting waiting[WAITING_MAX];
static unsigned waiting_count;
static uint64_t state, weather_ns, weather_at;
static unsigned weather_udp;

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "cable: %s: %s\n", what, strerror(errno));
    exit(1);
}

static unsigned any(unsigned below) /* xorshift64 (Marsaglia, 2003) */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below != 0 ? (unsigned)(state >> 33) % below : 0;
}

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- devices ---- */

static void set_address(int control, struct ifreq *request, unsigned long what, uint32_t address)
{
    const struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
    memcpy(&request->ifr_addr, &in, sizeof in);
    must(ioctl(control, what, request) == 0, "an address");
}

static void set_up(int control, const char *name)
{
    struct ifreq request = {0};
    strcpy(request.ifr_name, name);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    must(ioctl(control, SIOCSIFFLAGS, &request) == 0, name);
}

static int open_device(const char *pid, unsigned host)
{
    char path[64];
    struct ifreq request = {.ifr_name = "cable", .ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    const int place = open(path, O_RDONLY | O_CLOEXEC);
    must(place >= 0 && setns(place, CLONE_NEWNET) == 0, path);
    close(place);
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC),
              control = socket(AF_INET, SOCK_DGRAM, 0);
    must(fd >= 0 && control >= 0 && ioctl(fd, TUNSETIFF, &request) == 0, "/dev/net/tun");
    set_address(control, &request, SIOCSIFADDR, NETWORK + host + 1);
    set_address(control, &request, SIOCSIFNETMASK, UINT32_C(0xffffff00));
    set_up(control, "cable");
    set_up(control, "lo");
    close(control);
    return fd;
}

/* ---- packets ---- */

static bool is_udp(const uint8_t *packet)
{
    return packet[9] == IPPROTO_UDP;
}

/* A byte of what UDP carries changes. Without a checksum: else the kernel would see it, not the program. */
static void spoil(uint8_t *packet, size_t bytes)
{
    const size_t at = (size_t)(packet[0] & 15) * 4;
    if (!is_udp(packet) || bytes <= at + 8)
        return;
    packet[at + 6] = packet[at + 7] = 0;
    packet[at + 8 + any((unsigned)(bytes - at - 8))] ^= (uint8_t)(1 + any(255));
}

static void deliver(unsigned to, const uint8_t *packet, size_t bytes)
{
    (void)!write(device[to], packet, bytes);
}

/* In the order of their times. What finds no room is lost. */
static void wait_until(uint64_t due, unsigned to, const uint8_t *packet, size_t bytes)
{
    unsigned at = waiting_count;
    if (waiting_count == WAITING_MAX)
        return;
    while (at > 0 && waiting[at - 1].due > due)
        at--;
    memmove(&waiting[at + 1], &waiting[at], (waiting_count - at) * sizeof waiting[0]);
    waiting[at] = (struct waiting){.due = due, .to = to, .bytes = bytes};
    memcpy(waiting[at].packet, packet, bytes);
    waiting_count++;
}

static void pass(unsigned from, uint8_t *packet, size_t bytes, uint64_t now)
{
    uint32_t address;
    memcpy(&address, packet + 16, sizeof address);
    const uint32_t to = ntohl(address) - NETWORK - 1;
    if (packet[0] >> 4 != 4 || to >= hosts)
        return;
    const struct line *const line = &lines[from][to];
    if (line->udp != 0 && !is_udp(packet)) {
        deliver(to, packet, bytes);
        return;
    }
    if (any(1000) < line->lost || (line->most != 0 && bytes > line->most))
        return;
    if (any(1000) < line->spoilt)
        spoil(packet, bytes);
    for (int copies = 1 + (any(1000) < line->doubled); copies > 0; copies--) {
        const uint64_t held = any(1000) < line->held ? any(HELD_NS) : 0,
                       delay = (uint64_t)line->delay * NS_PER_US + held;
        if (delay == 0)
            deliver(to, packet, bytes);
        else
            wait_until(now + delay, to, packet, bytes);
    }
}

static void pass_what_is_due(uint64_t now)
{
    unsigned count = 0;
    while (count < waiting_count && waiting[count].due <= now) {
        deliver(waiting[count].to, waiting[count].packet, waiting[count].bytes);
        count++;
    }
    waiting_count -= count;
    if (count != 0)
        memmove(&waiting[0], &waiting[count], waiting_count * sizeof waiting[0]);
}

/* ---- lines ---- */

static void set_lines(unsigned from, unsigned to, const struct line *line)
{
    for (unsigned i = 0; i < hosts; i++)
        for (unsigned j = 0; j < hosts; j++)
            if ((from == 0 || from == i + 1) && (to == 0 || to == j + 1))
                lines[i][j] = *line;
}

static void change_weather(uint64_t now)
{
    struct line line = {.udp = weather_udp};
    if (any(8) == 0) {
        line.lost = 1000;
    } else if (any(2) == 0) {
        line.lost = any(200);
        line.doubled = any(100);
        line.spoilt = any(50);
        line.held = any(200);
        line.delay = any(2000);
    }
    set_lines(1 + any(hosts), 1 + any(hosts), &line);
    weather_at = now + weather_ns;
}

static void obey(char *text, uint64_t now)
{
    static const char *const names[] = {"lost", "doubled", "spoilt", "held", "delay", "most", "udp"};
    struct line line = {0};
    unsigned *const values[] = {&line.lost,  &line.doubled, &line.spoilt, &line.held,
                                &line.delay, &line.most,    &line.udp};
    const char *const first = strtok(text, " \n"), *const second = strtok(NULL, " \n");
    must(first != NULL && second != NULL, "a line of stdin");
    for (char *word; (word = strtok(NULL, " \n")) != NULL;)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            if (strncmp(word, names[i], strlen(names[i])) == 0 && word[strlen(names[i])] == '=')
                *values[i] = (unsigned)strtoul(word + strlen(names[i]) + 1, NULL, 10);
    if (strcmp(first, "weather") == 0) {
        weather_ns = strtoull(second, NULL, 10) * NS_PER_MS;
        weather_udp = line.udp;
        weather_at = now;
    } else {
        set_lines((unsigned)strtoul(first, NULL, 10), (unsigned)strtoul(second, NULL, 10), &line);
    }
    must(write(1, "ok\n", 3) == 3, "stdout");
}

/* False: stdin has ended. */
static bool read_stdin(uint64_t now)
{
    static char text[4096];
    static size_t length;
    const ssize_t got = read(0, text + length, sizeof text - 1 - length);
    if (got <= 0)
        return false;
    length += (size_t)got;
    text[length] = '\0';
    for (char *end; (end = strchr(text, '\n')) != NULL;) {
        *end = '\0';
        obey(text, now);
        length -= (size_t)(end + 1 - text);
        memmove(text, end + 1, length + 1);
    }
    return true;
}

static int msec_left(uint64_t now)
{
    uint64_t next = weather_ns != 0 ? weather_at : UINT64_MAX;
    if (waiting_count != 0 && waiting[0].due < next)
        next = waiting[0].due;
    if (next == UINT64_MAX)
        return -1;
    return next <= now ? 0 : (int)((next - now + NS_PER_MS - 1) / NS_PER_MS);
}

static void read_device(unsigned from, uint64_t now)
{
    uint8_t packet[PACKET_MAX];
    for (int i = 0; i < 64; i++) {
        const ssize_t got = read(device[from], packet, sizeof packet);
        if (got < 20)
            return;
        pass(from, packet, (size_t)got, now);
    }
}

int main(int argc, char **argv)
{
    struct pollfd polled[HOSTS_MAX + 1];
    const char *const seed = getenv("BCR_TEST_SEED");
    state = (seed != NULL ? strtoull(seed, NULL, 0) : clock_ns()) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    must(argc >= 2 && argc <= HOSTS_MAX + 1, "from 1 to 64 process IDs");
    hosts = (unsigned)argc - 1;
    for (unsigned i = 0; i < hosts; i++) {
        device[i] = open_device(argv[i + 1], i);
        polled[i] = (struct pollfd){.fd = device[i], .events = POLLIN};
    }
    polled[hosts] = (struct pollfd){.fd = 0, .events = POLLIN};
    must(write(1, "ok\n", 3) == 3, "stdout");
    for (;;) {
        must(poll(polled, hosts + 1, msec_left(clock_ns())) >= 0 || errno == EINTR, "poll");
        const uint64_t now = clock_ns();
        if (polled[hosts].revents != 0 && !read_stdin(now))
            return 0;
        if (weather_ns != 0 && weather_at <= now)
            change_weather(now);
        for (unsigned i = 0; i < hosts; i++)
            if (polled[i].revents != 0)
                read_device(i, now);
        pass_what_is_due(now);
    }
}
