/* Which pages of a heap have memory of the system behind them, and giving that back.

   A page that has been touched costs nothing to write to again, and a fresh one more than to copy
   it; but it stays taken from the system until it is given back. The lock of the arena is held by
   whoever calls these functions. */
#ifndef FUEL_PAGES_H
#define FUEL_PAGES_H

#include "extents.h"

static size_t fuel_pages_before(const fuel_arena *arena, size_t offset)
{
    return offset / arena->page;
}

static size_t fuel_pages_up_to(const fuel_arena *arena, size_t offset)
{
    return offset / arena->page + (offset % arena->page != 0);
}

/* The bits of a word that stand for pages of a range. */
static uint64_t fuel_mask(size_t word, size_t first, size_t end)
{
    uint64_t mask = ~(uint64_t)0;
    if (word == first / 64)
        mask &= ~(uint64_t)0 << (first % 64);
    if (word == end / 64)
        mask &= ~(~(uint64_t)0 << (end % 64));
    return mask;
}

static size_t fuel_count_bits(uint64_t bits)
{
    bits -= (bits >> 1) & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (size_t)((bits * 0x0101010101010101u) >> 56);
}

/* Return how many pages have no memory. */
static size_t fuel_pages_fresh(const fuel_arena *arena, size_t first, size_t end)
{
    size_t word, fresh = 0;
    for (word = first / 64; word * 64 < end; word++)
        fresh += fuel_count_bits(fuel_mask(word, first, end) & ~arena->touched[word]);
    return fresh;
}

/* Note that pages may be written to now; return how many of them had no memory before. */
static size_t fuel_pages_touch(fuel_arena *arena, size_t first, size_t end)
{
    size_t word, fresh = 0;
    for (word = first / 64; word * 64 < end; word++) {
        uint64_t missing = fuel_mask(word, first, end) & ~arena->touched[word];
        if (missing) {
            fresh += fuel_count_bits(missing);
            arena->touched[word] |= missing;
        }
    }
    arena->resident += fresh;
    return fresh;
}

static int fuel_page_touched(const fuel_arena *arena, size_t page)
{
    return (int)(arena->touched[page / 64] >> (page % 64) & 1);
}

/* Give the memory of pages back, the highest first, until so many are left in all. */
static void fuel_pages_punch(fuel_arena *arena, size_t first, size_t end, size_t keep)
{
#if defined(MADV_REMOVE)
    while (arena->resident > keep) {
        size_t begin, page;
        while (end > first && !fuel_page_touched(arena, end - 1))
            end--;
        begin = end;
        while (begin > first && fuel_page_touched(arena, begin - 1)
               && arena->resident - (end - begin) > keep)
            begin--;
        if (begin == end
            || madvise(arena->base + begin * arena->page, (end - begin) * arena->page,
                       MADV_REMOVE))
            return;
        for (page = begin; page < end; page++)
            arena->touched[page / 64] &= ~((uint64_t)1 << (page % 64));
        arena->resident -= end - begin;
        end = begin;
    }
#else
    (void)arena; (void)first; (void)end; (void)keep;
#endif
}

static void fuel_tree_punch(fuel_arena *arena, uint32_t i, size_t keep)
{
    size_t first, end;
    while (i && arena->resident > keep) {
        fuel_tree_punch(arena, FUEL_NODE(i).right, keep);
        first = fuel_pages_up_to(arena, FUEL_NODE(i).start);
        end = fuel_pages_before(arena, FUEL_NODE(i).start + FUEL_NODE(i).length);
        if (FUEL_NODE(i).state == FUEL_FREE && first < end)
            fuel_pages_punch(arena, first, end, keep);
        i = FUEL_NODE(i).left;
    }
}

#endif
