/* A heap in memory that processes share. One process takes and gives back; the others only look.

   Everything known about the blocks stands outside of the memory, where nobody else can spoil it.
   All extents, taken and free, are kept in one tree in the order of their addresses (a treap), in
   which each node knows the longest free extent below it: the lowest address where a block fits is
   found in as many steps as the tree is high. Low addresses are used again first, for memory that
   has been touched before costs nothing, and a fresh page more than copying it.

   A child made by fork shares the memory, but not what is known about it. It takes nothing, and
   what it gives back stays taken. Blocks that it may still look at are not used again before it
   has ended: see fuel_arena_settle. */
#ifndef FUEL_ARENA_H
#define FUEL_ARENA_H

#include "pages.h"

/* ---- blocks; the lock is held by who calls ---- */

static size_t fuel_block_length(size_t nbytes)
{
    if (nbytes > SIZE_MAX / 2)
        return SIZE_MAX / 2;
    return nbytes ? (nbytes + FUEL_ALIGNMENT - 1) / FUEL_ALIGNMENT * FUEL_ALIGNMENT
                  : FUEL_ALIGNMENT;
}

static void fuel_count_in(fuel_arena *arena, size_t length)
{
    arena->in_use += length;
    if (arena->in_use > arena->high_water)
        arena->high_water = arena->in_use;
}

/* Cut the tail of the only node of a tree off; return the tail, which is free. */
static uint32_t fuel_block_cut(fuel_arena *arena, uint32_t i, size_t length)
{
    size_t start = FUEL_NODE(i).start + length, left = FUEL_NODE(i).length - length;
    if (!left)
        return 0;
    FUEL_NODE(i).length = length;
    return fuel_tree_new(arena, start, left);
}

static uint32_t fuel_block_take(fuel_arena *arena, size_t length)
{
    uint32_t i, before, after, tail;
    size_t start;
    if (arena->foreign || !fuel_tree_reserve(arena) || !(i = fuel_tree_fit(arena, length)))
        return 0;
    start = FUEL_NODE(i).start;
    fuel_tree_split(arena, arena->root, start, &before, &after);
    fuel_tree_split(arena, after, start + 1, &i, &after);
    tail = fuel_block_cut(arena, i, length);
    FUEL_NODE(i).state = FUEL_TAKEN;
    FUEL_NODE(i).taken_at = arena->forks;
    fuel_tree_update(arena, i);
    arena->root = fuel_tree_join(arena, fuel_tree_join(arena, before, i),
                                 fuel_tree_join(arena, tail, after));
    arena->blocks++;
    fuel_count_in(arena, length);
    return i;
}

/* Join a free node with its neighbours. All three are the whole of what lies between two trees. */
static void fuel_block_put(fuel_arena *arena, uint32_t before, uint32_t i, uint32_t after)
{
    uint32_t next, other;
    FUEL_NODE(i).state = FUEL_FREE;
    if (before) {
        next = before;
        while (FUEL_NODE(next).right)
            next = FUEL_NODE(next).right;
        if (FUEL_NODE(next).state == FUEL_FREE) {
            fuel_tree_split(arena, before, FUEL_NODE(next).start, &before, &other);
            FUEL_NODE(i).start = FUEL_NODE(other).start;
            FUEL_NODE(i).length += FUEL_NODE(other).length;
            fuel_tree_drop(arena, other);
        }
    }
    if (after) {
        next = after;
        while (FUEL_NODE(next).left)
            next = FUEL_NODE(next).left;
        if (FUEL_NODE(next).state == FUEL_FREE) {
            fuel_tree_split(arena, after, FUEL_NODE(next).start + 1, &other, &after);
            FUEL_NODE(i).length += FUEL_NODE(other).length;
            fuel_tree_drop(arena, other);
        }
    }
    fuel_tree_update(arena, i);
    arena->root = fuel_tree_join(arena, fuel_tree_join(arena, before, i), after);
}

static void fuel_block_give(fuel_arena *arena, uint32_t i)
{
    uint32_t before, after;
    size_t start = FUEL_NODE(i).start;
    fuel_tree_split(arena, arena->root, start, &before, &after);
    fuel_tree_split(arena, after, start + 1, &i, &after);
    arena->in_use -= FUEL_NODE(i).length;
    arena->blocks--;
    fuel_block_put(arena, before, i, after);
}

/* Give back what a child might still look at, unless one does. */
static void fuel_block_leave(fuel_arena *arena, uint32_t i)
{
    if (arena->newest > FUEL_NODE(i).taken_at) {
        FUEL_NODE(i).state = FUEL_LIMBO;
        FUEL_NODE(i).given_at = arena->forks;
    }
    else
        fuel_block_give(arena, i);
}

/* Make a block shorter, or longer if what follows is free; return whether it was done. */
static int fuel_block_resize(fuel_arena *arena, uint32_t i, size_t length)
{
    uint32_t before, after, next, tail;
    size_t start = FUEL_NODE(i).start, old = FUEL_NODE(i).length;
    if (length == old)
        return 1;
    if (arena->foreign || !fuel_tree_reserve(arena))
        return 0;
    fuel_tree_split(arena, arena->root, start, &before, &after);
    fuel_tree_split(arena, after, start + 1, &i, &after);
    next = after;
    while (next && FUEL_NODE(next).left)
        next = FUEL_NODE(next).left;
    if (next && FUEL_NODE(next).state == FUEL_FREE && old + FUEL_NODE(next).length >= length) {
        fuel_tree_split(arena, after, FUEL_NODE(next).start + 1, &next, &after);
        FUEL_NODE(i).length += FUEL_NODE(next).length;
        fuel_tree_drop(arena, next);
    }
    tail = 0;
    if (FUEL_NODE(i).length > length)
        tail = fuel_block_cut(arena, i, length);
    fuel_tree_update(arena, i);
    after = fuel_tree_join(arena, tail, after);
    arena->root = fuel_tree_join(arena, fuel_tree_join(arena, before, i), after);
    arena->in_use -= old;
    fuel_count_in(arena, FUEL_NODE(i).length);
    return FUEL_NODE(i).length == length;
}

/* Return a node whose extent is one of those that no living child can see; 0 if there is none. */
static uint32_t fuel_tree_settled(fuel_arena *arena, uint32_t i, const uint32_t *living,
                                  size_t count)
{
    for (; i; i = FUEL_NODE(i).right) {
        uint32_t found = fuel_tree_settled(arena, FUEL_NODE(i).left, living, count);
        size_t k = 0;
        if (found)
            return found;
        if (FUEL_NODE(i).state != FUEL_LIMBO)
            continue;
        while (k < count && !(living[k] > FUEL_NODE(i).taken_at
                              && living[k] <= FUEL_NODE(i).given_at))
            k++;
        if (k == count)
            return i;
    }
    return 0;
}

/* ---- what others call ---- */

static fuel_arena *fuel_arenas;         /* all of this process */
static fuel_lock fuel_arenas_lock;

static void fuel_arena_free(fuel_arena *arena);

static fuel_arena *fuel_arena_new(char *base, size_t size, size_t page, int descriptor)
{
    fuel_arena *arena = (fuel_arena *)calloc(1, sizeof(fuel_arena));
    if (!arena)
        return NULL;
    arena->base = base;
    arena->size = size / FUEL_ALIGNMENT * FUEL_ALIGNMENT;
    arena->page = page;
    arena->descriptor = descriptor;
    arena->dice = 0x9e3779b97f4a7c15u;
    arena->capacity = 64;
    arena->used = 1;
    arena->extents = (fuel_extent *)calloc(arena->capacity, sizeof(fuel_extent));
    arena->touched = (uint64_t *)calloc(size / page / 64 + 1, sizeof(uint64_t));
    FUEL_LOCK_INIT(&arena->lock);
    FUEL_LOCK(&fuel_arenas_lock);
    arena->next = fuel_arenas;
    if (fuel_arenas)
        fuel_arenas->previous = arena;
    fuel_arenas = arena;
    FUEL_UNLOCK(&fuel_arenas_lock);
    if (!arena->extents || !arena->touched) {
        fuel_arena_free(arena);
        return NULL;
    }
    if (arena->size)
        arena->root = fuel_tree_new(arena, 0, arena->size);
    return arena;
}

static void fuel_arena_free(fuel_arena *arena)
{
    FUEL_LOCK(&fuel_arenas_lock);
    if (arena->next)
        arena->next->previous = arena->previous;
    if (arena->previous)
        arena->previous->next = arena->next;
    else
        fuel_arenas = arena->next;
    FUEL_UNLOCK(&fuel_arenas_lock);
    FUEL_LOCK_END(&arena->lock);
    free(arena->extents);
    free(arena->touched);
    free(arena);
}

/* Ask for room, on a disk or of a system that promises no more than it has; return whether there
   is. Without asking, a process that writes to it would be killed. */
static int fuel_arena_room(fuel_arena *arena, size_t start, size_t length)
{
#if defined(_WIN32) || defined(__APPLE__)
    (void)arena; (void)start; (void)length;
    return 1;
#else
    int error = posix_fallocate(arena->descriptor, (off_t)start, (off_t)length);
    return !error || error == EOPNOTSUPP || error == EINVAL;
#endif
}

/* Take a block, full of zeros if that is wanted; return its address, or NULL if there is no room. */
static char *fuel_arena_take(fuel_arena *arena, size_t nbytes, int zero)
{
    size_t length = fuel_block_length(nbytes), start, first, end, whole, last, fresh = 0;
    uint32_t i;
    FUEL_LOCK(&arena->lock);
    i = fuel_block_take(arena, length);
    if (!i) {
        FUEL_UNLOCK(&arena->lock);
        return NULL;
    }
    start = FUEL_NODE(i).start;
    first = fuel_pages_before(arena, start);
    end = fuel_pages_up_to(arena, start + length);
    if (arena->descriptor >= 0 && fuel_pages_fresh(arena, first, end)
        && !fuel_arena_room(arena, start, length)) {
        fuel_block_give(arena, i);
        FUEL_UNLOCK(&arena->lock);
        return NULL;
    }
    whole = fuel_pages_up_to(arena, start);
    last = fuel_pages_before(arena, start + length);
    if (whole < last)
        fresh = fuel_pages_touch(arena, whole, last);
    fuel_pages_touch(arena, first, end);
    FUEL_UNLOCK(&arena->lock);
    if (zero && whole < last && fresh == last - whole) {
        memset(arena->base + start, 0, whole * arena->page - start);
        memset(arena->base + last * arena->page, 0, start + length - last * arena->page);
    }
    else if (zero)
        memset(arena->base + start, 0, length);
    return arena->base + start;
}

/* Give the block back that begins at an offset; return -1 if there is none. */
static int fuel_arena_give(fuel_arena *arena, size_t start)
{
    uint32_t i;
    if (arena->foreign)
        return 0;
    FUEL_LOCK(&arena->lock);
    i = fuel_tree_find(arena, start);
    if (i && FUEL_NODE(i).state != FUEL_TAKEN)
        i = 0;
    if (i)
        fuel_block_leave(arena, i);
    FUEL_UNLOCK(&arena->lock);
    return i ? 0 : -1;
}

/* Return the length of the block that begins at an offset; 0 if there is none. */
static size_t fuel_arena_length(fuel_arena *arena, size_t start)
{
    uint32_t i;
    size_t length = 0;
    FUEL_LOCK(&arena->lock);
    i = fuel_tree_find(arena, start);
    if (i && FUEL_NODE(i).state == FUEL_TAKEN)
        length = FUEL_NODE(i).length;
    FUEL_UNLOCK(&arena->lock);
    return length;
}

/* Make a block longer or shorter where it is; return whether that could be done. */
static int fuel_arena_resize(fuel_arena *arena, size_t start, size_t nbytes)
{
    size_t length = fuel_block_length(nbytes);
    uint32_t i;
    int done = 0;
    FUEL_LOCK(&arena->lock);
    i = fuel_tree_find(arena, start);
    /* What a child may look at stays as it is. */
    if (i && arena->newest <= FUEL_NODE(i).taken_at
        && (length <= FUEL_NODE(i).length || arena->descriptor < 0))
        done = fuel_block_resize(arena, i, length);
    if (done)
        fuel_pages_touch(arena, fuel_pages_before(arena, start),
                         fuel_pages_up_to(arena, start + length));
    FUEL_UNLOCK(&arena->lock);
    return done;
}

/* Give the memory of free pages back until so many bytes are left; return how many it were. */
static size_t fuel_arena_trim(fuel_arena *arena, size_t keep)
{
    size_t before, after;
    if (arena->foreign)
        return 0;
    FUEL_LOCK(&arena->lock);
    before = arena->resident;
    fuel_tree_punch(arena, arena->root, keep / arena->page);
    after = arena->resident;
    arena->high_water = arena->in_use;
    FUEL_UNLOCK(&arena->lock);
    return (before - after) * arena->page;
}

/* Note that a child is made that will see what is taken now. */
static void fuel_arena_forked(fuel_arena *arena, uint32_t child)
{
    FUEL_LOCK(&arena->lock);
    arena->newest = arena->forks = child;
    FUEL_UNLOCK(&arena->lock);
}

/* Use blocks again that none of the children can see that are still living. */
static void fuel_arena_settle(fuel_arena *arena, const uint32_t *living, size_t count)
{
    uint32_t i;
    size_t k;
    FUEL_LOCK(&arena->lock);
    arena->newest = 0;
    for (k = 0; k < count; k++)
        if (living[k] > arena->newest && living[k] <= arena->forks)
            arena->newest = living[k];
    while ((i = fuel_tree_settled(arena, arena->root, living, count)))
        fuel_block_give(arena, i);
    FUEL_UNLOCK(&arena->lock);
}

/* ---- fork ---- */

#if defined(_WIN32)
static void fuel_arena_init(void)
{
    FUEL_LOCK_INIT(&fuel_arenas_lock);
}
#else
static void fuel_arenas_hold(void)
{
    fuel_arena *arena;
    FUEL_LOCK(&fuel_arenas_lock);
    for (arena = fuel_arenas; arena; arena = arena->next)
        FUEL_LOCK(&arena->lock);
}

static void fuel_arenas_go_on(void)
{
    fuel_arena *arena;
    for (arena = fuel_arenas; arena; arena = arena->next)
        FUEL_UNLOCK(&arena->lock);
    FUEL_UNLOCK(&fuel_arenas_lock);
}

static void fuel_arenas_in_child(void)
{
    fuel_arena *arena;
    for (arena = fuel_arenas; arena; arena = arena->next) {
        arena->foreign = 1;
        FUEL_LOCK_INIT(&arena->lock);
    }
    FUEL_LOCK_INIT(&fuel_arenas_lock);
}

static void fuel_arena_init(void)
{
    FUEL_LOCK_INIT(&fuel_arenas_lock);
    pthread_atfork(fuel_arenas_hold, fuel_arenas_go_on, fuel_arenas_in_child);
}
#endif
#endif
