// A small pool of worker threads.
//
// Work is a function of a task index; tasks are taken from an atomic counter, so that the split
// never depends on timing in a way that reaches the results (each task writes its own range).
// Workers spin briefly and then sleep. After fork() the child starts without workers and builds
// new ones at first use.
#pragma once
#include <functional>

#include "isa/ops.hpp"

namespace mercer {

/// Processors this process may use: affinity and cgroup quota.
int usable_cpus();

/// The limit set by set_num_threads, OMP_NUM_THREADS at start-up, or usable_cpus().
int num_threads();
void set_num_threads(int n);

/// Runs body(task, worker) for task in [0, tasks) on up to `threads` threads (the caller is one
/// of them); worker < threads names the thread for per-thread scratch. The first exception is
/// rethrown in the caller. Nested calls run serially. While the caller waits for the others it
/// calls `idle`, if given. Where the system starts no more threads there are fewer, down to the
/// caller alone.
void parallel_for(int threads, Index tasks, const std::function<void(Index, int)>& body,
                  const std::function<void()>& idle = nullptr);

/// scikit-learn's convention for n_jobs; 0 means the default number of threads. Never more than
/// usable_cpus(): threads that share a core wait for each other.
int resolve_jobs(int n_jobs);

}  // namespace mercer
