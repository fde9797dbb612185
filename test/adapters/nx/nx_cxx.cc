// SPDX-License-Identifier: MIT
// A program in C++: each node sends a vector to the next, and a handler takes a question.
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <cube.h>

namespace
{
volatile long asked;
long question;

extern "C" void take(long type, long count, long node, long)
{
    if (type != 2 || count != static_cast<long>(sizeof question) || question != node)
        std::exit(4);
    asked = 1;
}

extern "C" long larger(void *x, void *work)
{
    double *mine = static_cast<double *>(x);
    const double *other = static_cast<double *>(work);
    if (*other > *mine)
        *mine = *other;
    return 0;
}
} // namespace

int main()
{
    const long me = mynode(), nodes = numnodes(), next = (me + 1) % nodes;
    std::vector<double> mine(1000 + static_cast<std::size_t>(me)), got(2000);
    std::iota(mine.begin(), mine.end(), static_cast<double>(me));
    const long receive = irecv(1, got.data(), static_cast<long>(got.size() * sizeof got[0]));
    csend(1, mine.data(), static_cast<long>(mine.size() * sizeof mine[0]), next, 0);
    msgwait(receive);
    got.resize(static_cast<std::size_t>(infocount()) / sizeof got[0]);
    const long before = infonode();
    double sum = std::accumulate(got.begin(), got.end(), 0.0), work;
    if (got.size() != 1000 + static_cast<std::size_t>(before) || got.front() != static_cast<double>(before))
        return 5;
    hrecv(2, &question, sizeof question, take);
    gsync();
    csend(2, &me, sizeof me, next, 0);
    while (asked == 0)
        flick();
    double most = sum;
    gopf(&most, sizeof most, &work, larger);
    gdsum(&sum, 1, &work);
    if (me == 0)
        std::printf("c++ %ld: sum %.0f, most %.0f\n", nodes, sum, most);
    return 0;
}
