# cython: language_level=3
"""The threads that kernels share. C code for other kernels; there is nothing for Python in it."""
cdef extern from "team.h" nogil:
    void fuel_team_run(job_t job, void *arg, Py_ssize_t pieces, int threads) noexcept
    void fuel_team_init() noexcept

fuel_team_init()


cdef void run_team(job_t job, void *arg, Py_ssize_t pieces, int threads) noexcept nogil:
    """Call ``job(arg, piece)`` for every piece, on at most so many threads.

    Returns when all are done.
    """
    fuel_team_run(job, arg, pieces, threads)
