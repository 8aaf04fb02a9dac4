/* A team of threads for kernels: the caller and helpers take pieces of one job until none is left.

   Helpers are started when they are first wanted. Between two jobs they watch for the next one for
   a moment, which makes it cheap to hand them a small job soon after the last, and then sleep. The
   caller never waits for a helper to wake up: whoever comes late finds the job done. It does wait
   for one that has taken a piece, which lasts where the processors are busy with something else and
   the helper has lost its own. Then it does without helpers for a while. A child
   process starts with no helpers, whatever its parent was doing when it forked. Jobs of several
   callers at once are not mixed: the team serves one, and the others work alone. */
#ifndef FUEL_TEAM_H
#define FUEL_TEAM_H

#include <stddef.h>

typedef void (*fuel_job)(void *arg, ptrdiff_t piece);

#if (defined(__GNUC__) || defined(__clang__)) && !defined(_WIN32)

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#define FUEL_HELPERS 15                 /* at most */
#define FUEL_WATCH_NS 100000            /* how long to watch for the next job before sleeping */
#define FUEL_STACK (1 << 20)
#define FUEL_PATIENCE_NS 20000          /* how long to wait for helpers at least */
#define FUEL_ALONE 32                   /* how many jobs to do alone after a wait that was longer */
#define FUEL_ALONE_MOST 4096

#if defined(__x86_64__) || defined(__i386__)
#define FUEL_PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define FUEL_PAUSE() __asm__ __volatile__("yield")
#else
#define FUEL_PAUSE() ((void)0)
#endif

#define FUEL_LOAD(x) __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define FUEL_STORE(x, value) __atomic_store_n(&(x), (value), __ATOMIC_SEQ_CST)
#define FUEL_ADD(x, value) __atomic_fetch_add(&(x), (value), __ATOMIC_SEQ_CST)

static struct {
    pthread_mutex_t owner;              /* held by the caller whose job it is */
    pthread_mutex_t bed;                /* guards sleeping and waking up */
    pthread_cond_t alarm;
    int helpers;                        /* that were started; only the owner changes it */
    int sleepers;
    unsigned round;                     /* counts jobs */
    int seats;                          /* how many helpers may still join the present job */
    int done;                           /* how many that joined have finished */
    fuel_job job;
    void *arg;
    ptrdiff_t pieces;
    ptrdiff_t next;                     /* the first piece that nobody has taken */
    int alone;                          /* how many jobs are to be done alone */
    int pause;                          /* how many it will be the next time */
} fuel_team = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
               0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, FUEL_ALONE};

static void fuel_team_work(void)
{
    ptrdiff_t piece;
    while ((piece = FUEL_ADD(fuel_team.next, 1)) < fuel_team.pieces)
        fuel_team.job(fuel_team.arg, piece);
}

static long long fuel_team_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* Return when the round is another one than the one seen. */
static unsigned fuel_team_wait(unsigned seen)
{
    long long end = fuel_team_clock() + FUEL_WATCH_NS;
    int turn;
    do {
        for (turn = 0; turn < 64; turn++) {
            if (FUEL_LOAD(fuel_team.round) != seen)
                return FUEL_LOAD(fuel_team.round);
            FUEL_PAUSE();
        }
    } while (fuel_team_clock() < end);
    pthread_mutex_lock(&fuel_team.bed);
    FUEL_ADD(fuel_team.sleepers, 1);
    while (FUEL_LOAD(fuel_team.round) == seen)
        pthread_cond_wait(&fuel_team.alarm, &fuel_team.bed);
    FUEL_ADD(fuel_team.sleepers, -1);
    pthread_mutex_unlock(&fuel_team.bed);
    return FUEL_LOAD(fuel_team.round);
}

static void *fuel_team_helper(void *unused)
{
    unsigned seen = 0;
    int seats;
    (void)unused;
    for (;;) {
        seen = fuel_team_wait(seen);
        seats = FUEL_LOAD(fuel_team.seats);
        while (seats > 0 && !__atomic_compare_exchange_n(&fuel_team.seats, &seats, seats - 1, 0,
                                                         __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
        if (seats > 0) {
            fuel_team_work();
            FUEL_ADD(fuel_team.done, 1);
        }
    }
    return NULL;
}

static void fuel_team_after_fork(void)
{
    pthread_mutex_init(&fuel_team.owner, NULL);
    pthread_mutex_init(&fuel_team.bed, NULL);
    pthread_cond_init(&fuel_team.alarm, NULL);
    fuel_team.helpers = fuel_team.sleepers = fuel_team.seats = fuel_team.done = 0;
    fuel_team.round = 0;
    fuel_team.alone = 0;
    fuel_team.pause = FUEL_ALONE;
}

/* Have as many helpers as wanted, or as many as the system gives. */
static void fuel_team_grow(int wanted)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    if (pthread_attr_init(&attributes))
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, FUEL_STACK);
    /* Signals are for the threads of Python. */
    sigfillset(&all);
    /* But for those that a fault of the thread itself raises. */
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (fuel_team.helpers < wanted
           && !pthread_create(&thread, &attributes, fuel_team_helper, NULL))
        fuel_team.helpers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* Wait until the helpers that joined have finished, and note whether they were worth it. */
static void fuel_team_finish(int joined, long long begun)
{
    long long finished, waited, turn;
    if (!joined)
        return;
    finished = fuel_team_clock();
    for (turn = 0; FUEL_LOAD(fuel_team.done) < joined; turn++) {
        if (turn < 2000)
            FUEL_PAUSE();
        else
            sched_yield();
    }
    waited = fuel_team_clock() - finished;
    if (waited > FUEL_PATIENCE_NS && waited > (finished - begun) / 2) {
        fuel_team.alone = fuel_team.pause;
        if (fuel_team.pause < FUEL_ALONE_MOST)
            fuel_team.pause *= 2;
    }
    else if (fuel_team.pause > FUEL_ALONE)
        fuel_team.pause -= FUEL_ALONE;
}

static void fuel_team_run(fuel_job job, void *arg, ptrdiff_t pieces, int threads)
{
    ptrdiff_t piece;
    long long begun;
    int helpers = threads - 1, joined;
    if (helpers > FUEL_HELPERS)
        helpers = FUEL_HELPERS;
    if (helpers > pieces - 1)
        helpers = (int)(pieces - 1);
    if (helpers < 1 || pthread_mutex_trylock(&fuel_team.owner)) {
        for (piece = 0; piece < pieces; piece++)
            job(arg, piece);
        return;
    }
    if (fuel_team.alone) {
        fuel_team.alone--;
        pthread_mutex_unlock(&fuel_team.owner);
        for (piece = 0; piece < pieces; piece++)
            job(arg, piece);
        return;
    }
    begun = fuel_team_clock();
    if (fuel_team.helpers < helpers)
        fuel_team_grow(helpers);
    fuel_team.job = job;
    fuel_team.arg = arg;
    fuel_team.pieces = pieces;
    FUEL_STORE(fuel_team.next, 0);
    FUEL_STORE(fuel_team.done, 0);
    FUEL_STORE(fuel_team.seats, helpers);
    FUEL_ADD(fuel_team.round, 1);
    if (FUEL_LOAD(fuel_team.sleepers)) {
        pthread_mutex_lock(&fuel_team.bed);
        pthread_cond_broadcast(&fuel_team.alarm);
        pthread_mutex_unlock(&fuel_team.bed);
    }
    fuel_team_work();
    joined = helpers - __atomic_exchange_n(&fuel_team.seats, 0, __ATOMIC_SEQ_CST);
    fuel_team_finish(joined, begun);
    pthread_mutex_unlock(&fuel_team.owner);
}

static void fuel_team_init(void)
{
    pthread_atfork(NULL, NULL, fuel_team_after_fork);
}

#else

static void fuel_team_run(fuel_job job, void *arg, ptrdiff_t pieces, int threads)
{
    ptrdiff_t piece;
    (void)threads;
    for (piece = 0; piece < pieces; piece++)
        job(arg, piece);
}

static void fuel_team_init(void) {}

#endif
#endif
