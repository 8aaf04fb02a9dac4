/* The extents of a heap, taken and free, in one tree in the order of their addresses.

   It is a treap, in which each node knows the longest free extent below it: the lowest address
   where a block fits is found in as many steps as the tree is high. The lock of the arena is held
   by whoever calls these functions. */
#ifndef FUEL_EXTENTS_H
#define FUEL_EXTENTS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <windows.h>
typedef SRWLOCK fuel_lock;
#define FUEL_LOCK_INIT(lock) InitializeSRWLock(lock)
#define FUEL_LOCK(lock) AcquireSRWLockExclusive(lock)
#define FUEL_UNLOCK(lock) ReleaseSRWLockExclusive(lock)
#define FUEL_LOCK_END(lock) ((void)(lock))
#else
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
typedef pthread_mutex_t fuel_lock;
#define FUEL_LOCK_INIT(lock) pthread_mutex_init((lock), NULL)
#define FUEL_LOCK(lock) pthread_mutex_lock(lock)
#define FUEL_UNLOCK(lock) pthread_mutex_unlock(lock)
#define FUEL_LOCK_END(lock) pthread_mutex_destroy(lock)
#endif

#define FUEL_ALIGNMENT 64               /* what a processor fetches at once */

enum {FUEL_FREE, FUEL_TAKEN, FUEL_LIMBO};

typedef struct {
    size_t start, length;
    size_t longest;                     /* of the free extents of this subtree */
    uint32_t left, right;               /* 0 is no node */
    uint32_t priority;
    uint32_t state;
    uint32_t taken_at, given_at;        /* the last child that had been made then */
} fuel_extent;

typedef struct fuel_arena {
    char *base;
    size_t size, page;
    int descriptor;                     /* of a file whose room must be asked for; or -1 */
    int foreign;                        /* in a child made by fork */
    fuel_lock lock;
    fuel_extent *extents;               /* the first one is no node */
    uint32_t capacity, used, spare;     /* spare nodes are chained by their left */
    uint32_t root;
    uint64_t dice;
    uint64_t *touched;                  /* a bit for each page that may have memory */
    size_t resident;                    /* how many there are */
    size_t in_use, high_water, blocks;
    uint32_t forks, newest;             /* the last child, and the last one that may live */
    struct fuel_arena *next, *previous; /* of all of this process, for forks */
} fuel_arena;

#define FUEL_NODE(i) (arena->extents[i])

static void fuel_tree_update(fuel_arena *arena, uint32_t i)
{
    fuel_extent *node = &FUEL_NODE(i);
    size_t longest = node->state == FUEL_FREE ? node->length : 0;
    if (node->left && FUEL_NODE(node->left).longest > longest)
        longest = FUEL_NODE(node->left).longest;
    if (node->right && FUEL_NODE(node->right).longest > longest)
        longest = FUEL_NODE(node->right).longest;
    node->longest = longest;
}

/* Divide a tree into extents that start before an address, and the others. */
static void fuel_tree_split(fuel_arena *arena, uint32_t tree, size_t start, uint32_t *before,
                            uint32_t *after)
{
    if (!tree)
        *before = *after = 0;
    else if (FUEL_NODE(tree).start < start) {
        fuel_tree_split(arena, FUEL_NODE(tree).right, start, &FUEL_NODE(tree).right, after);
        *before = tree;
        fuel_tree_update(arena, tree);
    }
    else {
        fuel_tree_split(arena, FUEL_NODE(tree).left, start, before, &FUEL_NODE(tree).left);
        *after = tree;
        fuel_tree_update(arena, tree);
    }
}

/* Join two trees, where all addresses of the first are lower. */
static uint32_t fuel_tree_join(fuel_arena *arena, uint32_t low, uint32_t high)
{
    if (!low || !high)
        return low ? low : high;
    if (FUEL_NODE(low).priority > FUEL_NODE(high).priority) {
        FUEL_NODE(low).right = fuel_tree_join(arena, FUEL_NODE(low).right, high);
        fuel_tree_update(arena, low);
        return low;
    }
    FUEL_NODE(high).left = fuel_tree_join(arena, low, FUEL_NODE(high).left);
    fuel_tree_update(arena, high);
    return high;
}

static uint32_t fuel_tree_find(fuel_arena *arena, size_t start)
{
    uint32_t i = arena->root;
    while (i && FUEL_NODE(i).start != start)
        i = start < FUEL_NODE(i).start ? FUEL_NODE(i).left : FUEL_NODE(i).right;
    return i;
}

/* Return the node with the lowest address that is free and long enough. */
static uint32_t fuel_tree_fit(fuel_arena *arena, size_t length)
{
    uint32_t i = arena->root;
    if (!i || FUEL_NODE(i).longest < length)
        return 0;
    for (;;) {
        fuel_extent *node = &FUEL_NODE(i);
        if (node->left && FUEL_NODE(node->left).longest >= length)
            i = node->left;
        else if (node->state == FUEL_FREE && node->length >= length)
            return i;
        else
            i = node->right;
    }
}

/* Have a spare node at hand; return 0 if there is no memory for one. */
static int fuel_tree_reserve(fuel_arena *arena)
{
    uint32_t capacity;
    fuel_extent *extents;
    if (arena->spare || arena->used < arena->capacity)
        return 1;
    if (arena->capacity > UINT32_MAX / 2)
        return 0;
    capacity = 2 * arena->capacity;
    extents = (fuel_extent *)realloc(arena->extents, capacity * sizeof(fuel_extent));
    if (!extents)
        return 0;
    arena->extents = extents;
    arena->capacity = capacity;
    return 1;
}

/* Return a node; one must have been reserved. */
static uint32_t fuel_tree_new(fuel_arena *arena, size_t start, size_t length)
{
    uint32_t i = arena->spare;
    fuel_extent fresh = {0, 0, 0, 0, 0, 0, FUEL_FREE, 0, 0};
    if (i)
        arena->spare = FUEL_NODE(i).left;
    else
        i = arena->used++;
    arena->dice ^= arena->dice << 13;
    arena->dice ^= arena->dice >> 7;
    arena->dice ^= arena->dice << 17;
    fresh.start = start;
    fresh.length = fresh.longest = length;
    fresh.priority = (uint32_t)(arena->dice >> 32);
    FUEL_NODE(i) = fresh;
    return i;
}

static void fuel_tree_drop(fuel_arena *arena, uint32_t i)
{
    FUEL_NODE(i).left = arena->spare;
    arena->spare = i;
}

#endif
