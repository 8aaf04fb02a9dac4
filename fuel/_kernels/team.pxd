# cython: language_level=3
"""The threads that kernels share; see team.pyx."""

ctypedef void (*job_t)(void *arg, Py_ssize_t piece) noexcept nogil

cdef void run_team(job_t job, void *arg, Py_ssize_t pieces, int threads) noexcept nogil
