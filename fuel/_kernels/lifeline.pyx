# cython: language_level=3
"""A thread that ends the process when nobody is left to work for.

It is a thread of the system, not of Python: it needs no interpreter lock, so that it does its work
also while the process is inside a library that holds the lock.
"""
cdef extern from *:
    """
    #include <errno.h>
    #include <limits.h>
    #include <poll.h>
    #include <pthread.h>
    #include <signal.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <time.h>
    #include <unistd.h>

    typedef struct {
        int connection, parent;
        pid_t parent_pid;
        double grace;
    } fuel_lifeline;

    static void fuel_sleep(double seconds) {
        struct timespec left;
        left.tv_sec = (time_t)seconds;
        left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
        while (nanosleep(&left, &left) == -1 && errno == EINTR) {}
    }

    static void *fuel_watch(void *arg) {
        fuel_lifeline line = *(fuel_lifeline *)arg;
        free(arg);
        for (;;) {
            /* That the other side has hung up is told without being asked for. */
            struct pollfd watched[2] = {{line.connection, 0, 0}, {line.parent, POLLIN, 0}};
            int found = poll(watched, 2, line.parent < 0 ? 500 : -1);
            if (found > 0 || (found < 0 && errno != EINTR && errno != EAGAIN)) break;
            if (line.parent < 0 && getppid() != line.parent_pid) break;
        }
        fuel_sleep(line.grace);
        kill(getpid(), SIGKILL);
        return NULL;
    }

    static int fuel_hold(int connection, int parent, double grace) {
        fuel_lifeline *line = malloc(sizeof(fuel_lifeline));
        pthread_attr_t attributes;
        pthread_t thread;
        sigset_t all, before;
        size_t stack = 1 << 16;
        int error;
        if (line == NULL) return ENOMEM;
        line->connection = connection;
        line->parent = parent;
        line->parent_pid = getppid();
        line->grace = grace;
        if ((error = pthread_attr_init(&attributes)) != 0) {
            free(line);
            return error;
        }
    #ifdef PTHREAD_STACK_MIN
        if (stack < (size_t)PTHREAD_STACK_MIN) stack = (size_t)PTHREAD_STACK_MIN;
    #endif
        pthread_attr_setstacksize(&attributes, stack);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        /* Signals are for threads that can do something about them. */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        error = pthread_create(&thread, &attributes, fuel_watch, line);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
        if (error != 0) free(line);
        return error;
    }
    """
    int fuel_hold(int connection, int parent, double grace) nogil


def end_with(int connection, int parent, double grace):
    """End this process when its parent hangs up or ends, whatever it is at.

    Parameters
    ----------
    connection : int
        Descriptor of a socket to the parent.
    parent : int
        Descriptor that can be read from when the parent has ended; -1 if there is none, in which
        case the number of the parent is looked at twice a second.
    grace : float
        How many seconds this process has to end by itself.
    """
    cdef int error = fuel_hold(connection, parent, grace)
    if error != 0:
        raise OSError(error, 'cannot start the thread that watches the parent')
