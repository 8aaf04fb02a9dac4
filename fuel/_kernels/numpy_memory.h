/* A heap as the place where numpy takes the data of new arrays from (its NEP 49).

   Large arrays come from the heap; the small ones, and those for which it has no room, from where
   they came before. numpy asks the handler that an array was made with to free it, in any thread,
   so that handlers live on with their arrays. */
#ifndef FUEL_NUMPY_MEMORY_H
#define FUEL_NUMPY_MEMORY_H

#include "arena.h"

typedef struct {
    PyDataMem_Handler handler;
    fuel_arena *arena;
    size_t threshold;
    PyDataMemAllocator *before;         /* of the handler that is kept by the next one */
    PyObject *kept, *owner;             /* the capsule from before; the object of the arena */
} fuel_memory;

static int fuel_memory_is_in(const fuel_memory *memory, const void *address)
{
    return (uintptr_t)address - (uintptr_t)memory->arena->base < memory->arena->size;
}

static size_t fuel_memory_offset(const fuel_memory *memory, const void *address)
{
    return (size_t)((const char *)address - memory->arena->base);
}

static void *fuel_memory_malloc(void *context, size_t size)
{
    fuel_memory *memory = (fuel_memory *)context;
    void *found = NULL;
    if (size >= memory->threshold)
        found = fuel_arena_take(memory->arena, size, 0);
    return found ? found : memory->before->malloc(memory->before->ctx, size);
}

static void *fuel_memory_calloc(void *context, size_t count, size_t size)
{
    fuel_memory *memory = (fuel_memory *)context;
    void *found = NULL;
    if ((!size || count <= SIZE_MAX / size) && count * size >= memory->threshold)
        found = fuel_arena_take(memory->arena, count * size, 1);
    return found ? found : memory->before->calloc(memory->before->ctx, count, size);
}

static void fuel_memory_free(void *context, void *address, size_t size)
{
    fuel_memory *memory = (fuel_memory *)context;
    if (address && fuel_memory_is_in(memory, address))
        fuel_arena_give(memory->arena, fuel_memory_offset(memory, address));
    else
        memory->before->free(memory->before->ctx, address, size);
}

static void *fuel_memory_realloc(void *context, void *address, size_t size)
{
    fuel_memory *memory = (fuel_memory *)context;
    size_t offset, length;
    void *found;
    if (!address)
        return fuel_memory_malloc(context, size);
    if (!fuel_memory_is_in(memory, address))
        return memory->before->realloc(memory->before->ctx, address, size);
    offset = fuel_memory_offset(memory, address);
    if (fuel_arena_resize(memory->arena, offset, size))
        return address;
    length = fuel_arena_length(memory->arena, offset);
    found = fuel_memory_malloc(context, size);
    if (found) {
        memcpy(found, address, size < length ? size : length);
        fuel_arena_give(memory->arena, offset);
    }
    return found;
}

static void fuel_memory_forget(PyObject *capsule)
{
    fuel_memory *memory = (fuel_memory *)PyCapsule_GetPointer(capsule, "mem_handler");
    PyObject *kept = memory->kept, *owner = memory->owner;
    free(memory);
    Py_DECREF(kept);
    Py_DECREF(owner);
}

/* Return a capsule with a handler for large arrays; the small ones go to the present one. */
static PyObject *fuel_memory_new(fuel_arena *arena, PyObject *owner, size_t threshold,
                                 PyObject *present)
{
    PyDataMem_Handler *before;
    PyObject *capsule;
    fuel_memory *memory;
    before = (PyDataMem_Handler *)PyCapsule_GetPointer(present, "mem_handler");
    if (!before)
        return NULL;
    memory = (fuel_memory *)calloc(1, sizeof(fuel_memory));
    if (!memory)
        return PyErr_NoMemory();
    strcpy(memory->handler.name, "fuel_arena");
    memory->handler.version = 1;
    memory->handler.allocator.ctx = memory;
    memory->handler.allocator.malloc = fuel_memory_malloc;
    memory->handler.allocator.calloc = fuel_memory_calloc;
    memory->handler.allocator.realloc = fuel_memory_realloc;
    memory->handler.allocator.free = fuel_memory_free;
    memory->arena = arena;
    memory->threshold = threshold ? threshold : 1;
    memory->before = &before->allocator;
    capsule = PyCapsule_New(memory, "mem_handler", fuel_memory_forget);
    if (!capsule) {
        free(memory);
        return NULL;
    }
    memory->kept = present;
    memory->owner = owner;
    Py_INCREF(present);
    Py_INCREF(owner);
    return capsule;
}

/* Return the handler of a capsule if it is one for this arena. */
static fuel_memory *fuel_memory_of(fuel_arena *arena, PyObject *capsule)
{
    PyDataMem_Handler *handler
        = (PyDataMem_Handler *)PyCapsule_GetPointer(capsule, "mem_handler");
    fuel_memory *memory = NULL;
    if (handler && handler->allocator.malloc == fuel_memory_malloc)
        memory = (fuel_memory *)handler->allocator.ctx;
    return memory && memory->arena == arena ? memory : NULL;
}

#endif
