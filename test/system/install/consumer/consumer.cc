/* SPDX-License-Identifier: MIT */
/* consumer.c in C++, with the types written as the guide has them. */
#include <bcr.h>

#include <cstdio>
#include <cstring>

static_assert(sizeof(bcr_cce) == sizeof(int), "a CCE ID is an int");

int main()
{
    static const char text[] = "a region of my own";

    if (bcr_init(0, "consumer") < 0)
        return 1;
    const int base = bcr_cagrow(1, 1, 0, 0, 0, 1, 1000);
    void **region = base < 0 ? nullptr : bcr_rgalloc(sizeof text, bcr_archtype);
    if (region == nullptr)
        return 1;
    std::memcpy(*region, text, sizeof text);
    void **list[1] = {region};
    if (bcr_rgwaitm(1, list, 0, 0) != 1 || bcr_enq(region, bcr_cce, base, bcr_FREE) < 0)
        return 1;
    region = bcr_deq(bcr_cce, base, 0);
    if (region == nullptr)
        return 1;
    std::printf("%s, BCR %d.%d.%d\n", static_cast<const char *>(*region), BCR_VERSION_MAJOR,
                BCR_VERSION_MINOR, BCR_VERSION_PATCH);
    return bcr_rgfree(region) < 0;
}
